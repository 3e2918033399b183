// The live dot and the banner: what streams the page has, how old the last event is, when the next try is due.
import { t } from "./messages.mjs";
import { retryAll } from "./stream.mjs";
import { clockTime, length } from "./time.mjs";

const WORST_FIRST = ["refused", "lost", "paused", "connecting", "live", "ended"];
//: A short break is mended without a word; from then on the page says that it shows old data.
const SAY_AFTER = 3000;
const known = new Map();
let lostSince = 0;

function words(state) {
  if (state === "live") return t("Live");
  if (state === "ended") return t("Ended");
  if (state === "paused") return t("Paused");
  if (state === "connecting") return t("Connecting");
  return t("Stopped");
}

function worst() {
  const all = [...known.values()];
  return WORST_FIRST.map((state) => all.find((status) => status.state === state)).find(Boolean);
}

function drawDot(status) {
  const state = status.state === "refused" ? "lost" : status.state;
  const lost = state === "lost";
  const last = Math.max(...[...known.values()].map((each) => each.lastEvent));
  const age = state === "live" && last ? length((Date.now() - last) / 1000) : lost ? clockTime(last || lostSince) : "";
  for (const dot of document.querySelectorAll("[data-live]")) {
    if (!dot.matches(".rl-live")) continue;
    dot.dataset.state = state;
    dot.querySelector("[data-live-word]").textContent = words(status.state);
    dot.querySelector("[data-live-age]").textContent = age;
  }
}

function explain(status) {
  if (status.state === "lost") {
    const wait = Math.max(0, Math.ceil((status.retryAt - Date.now()) / 1000));
    return t("The page shows data from then. Trying again in {n} s.", { n: wait });
  }
  if (status.status === 401) return t("You are signed out. Load the page again to sign in.");
  return t("The server refused the stream with status {status}.", { status: status.status });
}

function drawBanner(status) {
  const banner = document.querySelector("[data-stream-banner]");
  if (!banner) return;
  const lost = status.state === "lost" && Date.now() - lostSince >= SAY_AFTER;
  banner.hidden = !(lost || status.state === "refused");
  if (banner.hidden) return;
  const title = t("Live updates stopped at {time}", { time: clockTime(lostSince) });
  const heading = banner.querySelector("[data-stream-title]");
  if (heading.textContent !== title) heading.textContent = title;
  banner.querySelector("[data-stream-text]").textContent = explain(status);
  banner.querySelector("[data-stream-retry]").hidden = status.state === "refused";
}

function draw() {
  for (const element of known.keys()) if (!element.isConnected) known.delete(element);
  const status = worst();
  if (!status) return;
  drawDot(status);
  drawBanner(status);
}

export function start() {
  document.addEventListener("stream-status", (event) => {
    const { state } = event.detail;
    if (state === "lost" || state === "refused") lostSince ||= event.detail.lastEvent || Date.now();
    else if (state === "live" || state === "ended") lostSince = 0;
    known.set(event.target, event.detail);
    draw();
  });
  document.addEventListener("click", (event) => event.target.closest("[data-stream-retry]") && retryAll());
  setInterval(() => document.hidden || draw(), 1000);
}
