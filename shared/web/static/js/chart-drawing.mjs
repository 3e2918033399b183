// Draws charts with uPlot in the colours of the page. Nothing animates; a missing value is a gap.
import { readChart, short, times } from "./chart-table.mjs";
import { closeTip, followPointer } from "./chart-tip.mjs";

const HEIGHT = 220;
const SMALL = 160;
const FONT = 11;

await new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = new URL("../vendor/uplot/uPlot.iife.min.js", import.meta.url).href;
  script.addEventListener("load", done);
  script.addEventListener("error", failed);
  document.head.append(script);
});
const { uPlot } = globalThis;
const drawn = new Map();

const colourOf = (element) => getComputedStyle(element).color;
const DASHES = { dashed: [3, 3], dotted: [1, 3] };
const faint = (colour) => colour.replace(/^rgba?\((\d+), (\d+), (\d+).*$/, "rgba($1, $2, $3, 0.12)");

function seriesOf(line) {
  const stroke = colourOf(line.key);
  const dash = DASHES[line.style];
  if (dash) return { stroke, width: line.style === "dotted" ? 1.4 : 1.1, dash, points: { show: false }, spanGaps: false };
  const fill = line.style === "area" ? faint(stroke) : undefined;
  return { stroke, fill, width: 1.6, points: { show: alone }, spanGaps: false };
}

/** A value between two gaps has no line, so it is shown as a point. */
function alone(plot, series) {
  const values = plot.data[series];
  const idx = values.flatMap((value, i) => (value !== null && values[i - 1] == null && values[i + 1] == null ? [i] : []));
  return idx.length > 0 && idx.length < values.length;
}

function rangeOf(chart) {
  return (_plot, low, high) => {
    const most = Math.max(high ?? 0, ...chart.thresholds.map(({ value }) => value));
    const least = chart.series.some(({ below }) => below) ? Math.min(low ?? 0, 0) : 0;
    const room = Math.max(most - least, chart.unit === "percent" ? 0.01 : 1) * 0.05;
    return [least && least - room, most + room];
  };
}

/** Thresholds as lines with their words, and where the forecast begins. */
function marks(chart, ink) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.font = `${FONT * devicePixelRatio}px sans-serif`;
    ctx.textAlign = "left";
    for (const { key, value, words } of chart.thresholds) {
      const y = Math.round(plot.valToPos(value, "y", true));
      line(ctx, colourOf(key), [4, 4], [bbox.left, y, bbox.left + bbox.width, y]);
      ctx.fillStyle = colourOf(key);
      ctx.fillText(words, bbox.left + 4 * devicePixelRatio, y - 4 * devicePixelRatio);
    }
    if (chart.now) {
      const x = Math.round(plot.valToPos(chart.now, "x", true));
      line(ctx, ink, [1, 3], [x, bbox.top, x, bbox.top + bbox.height]);
    }
    ctx.restore();
  };
}

function line(ctx, colour, dash, [x, y, toX, toY]) {
  ctx.strokeStyle = colour;
  ctx.setLineDash(dash.map((part) => part * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

function axesOf(chart, look) {
  const shared = { stroke: look.color, font: `${FONT}px ${look.fontFamily}`, ticks: { show: false } };
  const grid = { stroke: look.borderTopColor, width: 1 };
  return [
    { ...shared, grid: { show: false }, size: 24, gap: 6, space: 64, values: (_plot, splits, _axis, _space, step) => times(splits, step) },
    { ...shared, grid, size: 48, gap: 6, space: 40, values: (_plot, splits) => splits.map((value) => short(value, chart.unit)) },
  ];
}

function draw(figure) {
  const place = figure.querySelector("[data-chart-plot]");
  const chart = readChart(figure);
  if (!chart.at.length || !place.clientWidth) return null;
  const look = getComputedStyle(place);
  const options = {
    width: place.clientWidth,
    height: place.clientWidth < 480 ? SMALL : HEIGHT,
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: rangeOf(chart) } },
    series: [{}, ...chart.series.map(seriesOf)],
    axes: axesOf(chart, look),
    hooks: { draw: [marks(chart, look.color)], setCursor: [(plot) => followPointer(plot, place, chart)] },
  };
  const values = chart.series.map((each) => (each.below ? each.values.map((value) => value && -value) : each.values));
  place.replaceChildren();
  return new uPlot(options, [chart.at, ...values], place);
}

function replace(figure) {
  drawn.get(figure)?.destroy();
  closeTip(figure);
  drawn.set(figure, draw(figure));
}

const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const figure = target.closest("[data-chart]");
    const plot = drawn.get(figure);
    if (figure && target.clientWidth && target.clientWidth !== plot?.width) replace(figure);
  }
});

export function drawAll() {
  document.documentElement.dataset.charts = "on";
  for (const [figure, plot] of drawn) {
    if (figure.isConnected) continue;
    plot?.destroy();
    drawn.delete(figure);
  }
  for (const figure of document.querySelectorAll("[data-chart]")) {
    if (drawn.has(figure)) continue;
    replace(figure);
    resized.observe(figure.querySelector("[data-chart-plot]"));
  }
}

const again = () => drawn.forEach((_plot, figure) => replace(figure));
new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
