// Reads a chart out of its table: instants, series with their look, thresholds, and where the forecast begins.
const STYLES = ["area", "line", "dashed", "dotted"];

export function readChart(figure) {
  const keys = [...figure.querySelectorAll(".rl-chart-key:not(.rl-chart-key-limit)")];
  const rows = [...figure.querySelectorAll("tbody tr")];
  const series = keys.map((key, index) => ({
    key,
    label: key.textContent.trim(),
    style: STYLES.find((style) => key.classList.contains(`rl-chart-key-${style}`)) ?? "line",
    below: key.hasAttribute("data-below"),
    cells: rows.map((row) => row.cells[index + 1]),
  }));
  for (const line of series) line.values = line.cells.map((cell) => (cell.dataset.v === "" ? null : Number(cell.dataset.v)));
  return {
    unit: figure.dataset.unit,
    at: rows.map((row) => Date.parse(row.querySelector("time").dateTime) / 1000),
    series,
    thresholds: [...figure.querySelectorAll("[data-threshold]")].map((key) => ({ key, value: Number(key.dataset.threshold), words: key.textContent.trim() })),
    now: figure.dataset.now ? Date.parse(figure.dataset.now) / 1000 : null,
  };
}

const BITS = ["", "k", "M", "G", "T"];
const BYTES = ["", "Ki", "Mi", "Gi", "Ti"];

function scaled(value, step, names) {
  let place = 0;
  let rest = Math.abs(value);
  while (rest >= step && place < names.length - 1) {
    rest /= step;
    place += 1;
  }
  return `${rest.toLocaleString(document.documentElement.lang, { maximumFractionDigits: rest < 10 ? 2 : 1 })}${names[place] && ` ${names[place]}`}`;
}

/** A value beside the axis, short; what lies below the zero line is as positive as what lies above. */
export function short(value, unit) {
  if (unit === "bitrate") return scaled(value, 1000, BITS);
  if (unit === "size") return scaled(value, 1024, BYTES);
  const number = Math.abs(value);
  if (unit === "percent") return number.toLocaleString(document.documentElement.lang, { style: "percent", maximumFractionDigits: 1 });
  return number.toLocaleString(document.documentElement.lang, { maximumFractionDigits: 2 });
}

const DAY = 86_400;

/** Instants beside the axis, in UTC as everywhere in the portal. */
export function times(splits, step) {
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { month: "short", day: "numeric", timeZone: "UTC" });
  return splits.map((at) => (step >= DAY || at % DAY === 0 ? day.format(at * 1000) : new Date(at * 1000).toISOString().slice(11, 16)));
}
