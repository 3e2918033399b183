// Charts: every figure[data-chart] is drawn from its own table. What draws is loaded only where there is a chart.
let drawing = null;

/** Draws what is new in the page, and forgets what has left it. */
export function attach() {
  if (!drawing && !document.querySelector("[data-chart]")) return;
  drawing ||= import("./chart-drawing.mjs");
  // A chart that cannot be drawn leaves its table.
  drawing.then((module) => module.drawAll()).catch(() => document.documentElement.removeAttribute("data-charts"));
}

/** Opens all tables of charts; closes them when all are open. */
export function toggleTables() {
  const tables = [...document.querySelectorAll("[data-chart] details")];
  const open = tables.some((table) => !table.open);
  for (const table of tables) table.open = open;
}

export function start() {
  attach();
}
