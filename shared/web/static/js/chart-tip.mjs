// What the pointer stands on: the instant, and each line's value as its table has it.
import { t } from "./messages.mjs";

const BESIDE = 12;

export function closeTip(figure) {
  figure.querySelector(".rl-chart-tip")?.remove();
}

export function followPointer(plot, place, chart) {
  const { idx, left } = plot.cursor;
  let tip = place.querySelector(".rl-chart-tip");
  if (idx == null || left < 0) return tip?.remove();
  if (!tip) {
    tip = document.createElement("div");
    tip.className = "rl-chart-tip";
    place.append(tip);
  }
  tip.replaceChildren(...lines(idx, chart));
  const half = plot.over.clientWidth / 2;
  const from = plot.over.offsetLeft + left;
  const wanted = left < half ? from + BESIDE : from - BESIDE - tip.offsetWidth;
  tip.style.left = `${Math.max(0, Math.min(wanted, place.clientWidth - tip.offsetWidth))}px`;
}

function lines(idx, chart) {
  const time = document.createElement("div");
  time.className = "quiet";
  time.textContent = new Date(chart.at[idx] * 1000).toISOString().slice(0, 16).replace("T", " ");
  return [time, ...chart.series.map((line) => row(line, idx))];
}

function row(line, idx) {
  const element = document.createElement("div");
  const name = document.createElement("span");
  name.textContent = line.label;
  const value = document.createElement("strong");
  value.textContent = line.values[idx] === null ? t("no data") : line.cells[idx].textContent;
  element.append(name, value);
  return element;
}
