// Reads an event stream out of a fetched body. Only what the format needs: event, data, id, retry, comments.
export class EventReader {
  constructor(onEvent, onRetry) {
    this.onEvent = onEvent;
    this.onRetry = onRetry;
    this.rest = "";
    this.clear();
  }

  clear() {
    this.name = "message";
    this.data = [];
    this.id = null;
  }

  /** Takes the next piece of text, wherever it was cut. */
  push(text) {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop();
    lines.forEach((line) => this.line(line));
  }

  line(line) {
    if (line === "") {
      if (this.data.length) this.onEvent({ name: this.name, data: this.data.join("\n"), id: this.id });
      this.clear();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.onRetry(Number(value));
  }
}
