// Output of tools: lines of the surrounding stream, each once, in order, as text and nothing else.
import { t, tn } from "./messages.mjs";

const MOST_LINES = 5000;
const NEAR_THE_END = 24;
const KINDS = { stderr: "rl-term-stderr", note: "rl-term-note", gap: "rl-term-gap" };
const terminals = new WeakMap();

class Terminal {
  constructor(element) {
    this.element = element;
    this.lines = element.querySelector("[data-terminal-lines]");
    this.pill = element.querySelector("[data-terminal-pill]");
    this.count = this.lines.querySelectorAll("[data-seq]:not([data-seq=''])").length;
    this.last = Math.max(0, ...[...this.lines.children].map((line) => Number(line.dataset.seq) || 0));
    this.waiting = [];
    this.unseen = 0;
    this.following = true;
    this.lines.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.pill.addEventListener("click", () => this.toEnd());
    this.toEnd();
  }

  get atEnd() {
    return this.lines.scrollHeight - this.lines.scrollTop - this.lines.clientHeight < NEAR_THE_END;
  }

  scrolled() {
    this.following = this.atEnd;
    if (this.following) this.unseen = 0;
    this.drawPill();
  }

  toEnd() {
    this.lines.scrollTop = this.lines.scrollHeight;
    this.following = true;
    this.unseen = 0;
    this.drawPill();
  }

  output({ seq, text, stream }) {
    if (seq <= this.last) return;
    this.last = seq;
    this.count += 1;
    this.add(text, stream, seq);
  }

  gap(detail) {
    const { from, to } = detail;
    if (to !== undefined && to <= this.last) return;
    if (to !== undefined) this.last = Math.max(this.last, to);
    this.add(from === undefined ? t("Lines are missing here") : t("Lines {from} to {to} are missing", { from, to }), "gap", "");
  }

  add(text, kind, seq) {
    const line = document.createElement("div");
    line.className = KINDS[kind] ? `rl-term-line ${KINDS[kind]}` : "rl-term-line";
    line.dataset.seq = seq;
    const words = document.createElement("span");
    words.textContent = text;
    line.append(words);
    if (this.waiting.push(line) === 1) this.drawSoon();
  }

  /** A page that is not shown draws no frames, so a timer stands in. */
  drawSoon() {
    const draw = () => this.waiting.length && this.flush();
    if (document.hidden) setTimeout(draw, 200);
    else requestAnimationFrame(draw);
  }

  flush() {
    this.unseen += this.waiting.length;
    this.lines.append(...this.waiting.splice(0));
    while (this.lines.childElementCount > MOST_LINES) this.lines.firstElementChild.remove();
    if (this.following) this.toEnd();
    else this.drawPill();
  }

  finish() {
    this.flush();
    delete this.element.dataset.live;
    this.drawPill();
  }

  drawPill() {
    const live = "live" in this.element.dataset;
    const behind = !this.following && this.unseen > 0;
    this.pill.hidden = !behind && !(live && this.count);
    this.pill.toggleAttribute("data-new", behind);
    this.pill.querySelector("[data-terminal-pill-text]").textContent = behind
      ? tn("{n} new line", "{n} new lines", this.unseen)
      : tn("Following, {n} line", "Following, {n} lines", this.count);
  }
}

function terminalOf(element) {
  if (!terminals.has(element)) terminals.set(element, new Terminal(element));
  return terminals.get(element);
}

function each(event, act) {
  const node = event.detail.node;
  for (const element of event.target.querySelectorAll("[data-terminal]")) {
    if (node === undefined || node === null || element.dataset.node === node) act(terminalOf(element));
  }
}

export function attach(root = document) {
  root.querySelectorAll("[data-terminal]").forEach(terminalOf);
}

export function start() {
  attach();
  document.addEventListener("stream-output", (event) => each(event, (terminal) => terminal.output(event.detail)));
  document.addEventListener("stream-gap", (event) => each(event, (terminal) => terminal.gap(event.detail)));
  document.addEventListener("stream-done", (event) => {
    event.target.querySelectorAll("[data-terminal]").forEach((element) => terminalOf(element).finish());
  });
}
