// Keeps <time data-relative> current. The same steps as the server's filters; the server's clock counts, not this one.
import { t } from "./messages.mjs";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;
const REFRESH = 10_000;

const told = document.querySelector("meta[name='rl-now']")?.content;
const ahead = told ? Date.parse(told) - Date.now() : 0;

export const now = () => Date.now() + ahead;

export function length(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) return t("{n} s", { n: whole });
  if (whole < HOUR) return t("{n} min", { n: Math.floor(whole / MINUTE) });
  if (whole >= DAY) return t("{n} d", { n: Math.floor(whole / DAY) });
  const hours = Math.floor(whole / HOUR);
  const minutes = Math.floor((whole % HOUR) / MINUTE);
  return minutes ? t("{h} h {m} min", { h: hours, m: minutes }) : t("{n} h", { n: hours });
}

/** Time of day in UTC, as everywhere in the portal. */
export const clockTime = (instant) => new Date(instant).toISOString().slice(11, 19);

function refresh(element) {
  const passed = (now() - Date.parse(element.dateTime)) / 1000;
  if (Number.isNaN(passed)) return;
  const age = length(Math.abs(passed));
  let text = age;
  if (element.dataset.relative === "ago") text = passed >= 0 ? t("{age} ago", { age }) : t("in {age}", { age });
  if (element.textContent !== text) element.textContent = text;
}

export function start() {
  const all = () => document.querySelectorAll("time[data-relative]").forEach(refresh);
  setInterval(() => document.hidden || all(), REFRESH);
  document.addEventListener("visibilitychange", () => document.hidden || all());
}
