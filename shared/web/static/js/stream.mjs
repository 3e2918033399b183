// One live stream: element[data-stream]. Each named event becomes stream-<name> on the element, with the JSON as detail.
// It resumes with Last-Event-ID, backs off by itself also when the answer is not 200, ends at `done`, pauses while the
// page is hidden for long, and tells its state by stream-status.
import { EventReader } from "./sse.mjs";

const LONGEST_WAIT = 30_000;
const SILENCE = 45_000;
const LINGER = 2000;
const HIDDEN_TOO_LONG = 5 * 60_000;
const FINAL = new Set([400, 401, 403, 404, 405, 410, 422]);

export class Stream {
  constructor(element) {
    this.element = element;
    this.lastId = element.dataset.streamLast ?? "";
    this.base = 1000;
    this.failures = 0;
    this.lastEvent = 0;
    this.state = "connecting";
  }

  tell(state, extra = {}) {
    this.state = state;
    const detail = { state, stream: this, lastEvent: this.lastEvent, ...extra };
    this.element.dispatchEvent(new CustomEvent("stream-status", { detail, bubbles: true }));
  }

  get over() {
    return this.state === "ended" || this.state === "refused";
  }

  async connect() {
    clearTimeout(this.timer);
    this.abort?.abort();
    if (this.over || !this.element.isConnected) return;
    const abort = new AbortController();
    this.abort = abort;
    if (this.state !== "lost") this.tell("connecting");
    try {
      await this.follow(abort);
      if (!abort.signal.aborted && !this.over) this.later();
    } catch {
      if (this.abort === abort && !this.over && this.state !== "paused") this.later();
    }
  }

  async follow(abort) {
    const headers = { Accept: "text/event-stream" };
    if (this.lastId) headers["Last-Event-ID"] = this.lastId;
    this.watch(abort);
    const answer = await fetch(this.element.dataset.stream, { headers, cache: "no-store", signal: abort.signal });
    if (answer.status === 204) return this.close("ended");
    if (FINAL.has(answer.status)) return this.close("refused", { status: answer.status });
    if (!answer.ok) return this.later(Number(answer.headers.get("Retry-After")) * 1000 || 0, abort);
    this.tell("live");
    const reader = new EventReader((event) => this.deliver(event), (wait) => { this.base = wait; });
    const body = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await body.read();
      if (done || abort.signal.aborted) return undefined;
      if (!this.over) this.watch(abort);
      reader.push(value);
      if (!this.over && !this.element.isConnected) return abort.abort();
    }
  }

  deliver({ name, data, id }) {
    if (this.over) return;
    if (id !== null) this.lastId = id;
    this.failures = 0;
    this.lastEvent = Date.now();
    let detail;
    try {
      detail = JSON.parse(data);
    } catch {
      return;
    }
    this.element.dispatchEvent(new CustomEvent(`stream-${name}`, { detail, bubbles: true }));
    if (name === "done") this.close("ended");
    else this.tell("live");
  }

  /** Nothing for so long, not even a comment: the connection is dead though nobody said so. */
  watch(abort) {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      abort.abort();
      if (this.abort === abort && !this.over) this.later();
    }, SILENCE);
  }

  later(atLeast = 0, abort = this.abort) {
    if (this.abort !== abort || this.over) return;
    clearTimeout(this.silence);
    clearTimeout(this.timer);
    this.failures += 1;
    const most = Math.min(LONGEST_WAIT, this.base * 2 ** (this.failures - 1));
    const wait = Math.max(atLeast, most / 2 + (Math.random() * most) / 2);
    this.timer = setTimeout(() => this.connect(), wait);
    this.tell("lost", { retryAt: Date.now() + wait });
  }

  close(state, extra) {
    clearTimeout(this.silence);
    clearTimeout(this.timer);
    this.tell(state, extra);
    // After `done` the server ends the answer by itself; cutting it would look like a failed request.
    this.timer = setTimeout(() => this.abort?.abort(), state === "ended" ? LINGER : 0);
  }

  pause() {
    if (this.over || this.state === "paused") return;
    this.close("paused");
    this.abort?.abort();
  }

  resume() {
    if (this.over) return;
    this.failures = 0;
    this.state = "connecting";
    this.connect();
  }
}

const streams = new Map();

/** Opens what is new below `root` and forgets what left the page. */
export function attach(root = document) {
  for (const [element, stream] of streams) {
    if (!element.isConnected) {
      if (!stream.over) {
        stream.close("ended");
        stream.abort?.abort();
      }
      streams.delete(element);
    }
  }
  for (const element of root.querySelectorAll("[data-stream]")) {
    if (streams.has(element)) continue;
    const stream = new Stream(element);
    streams.set(element, stream);
    stream.connect();
  }
}

export function retryAll() {
  streams.forEach((stream) => stream.resume());
}

export function start() {
  attach();
  let hidden = 0;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hidden);
    if (document.hidden) hidden = setTimeout(() => streams.forEach((stream) => stream.pause()), HIDDEN_TOO_LONG);
    else streams.forEach((stream) => stream.state === "paused" && stream.resume());
  });
  addEventListener("pagehide", () => streams.forEach((stream) => stream.pause()));
  addEventListener("pageshow", (event) => event.persisted && retryAll());
  addEventListener("online", () => streams.forEach((stream) => stream.state === "lost" && stream.resume()));
}
