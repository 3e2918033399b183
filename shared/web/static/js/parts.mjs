// Parts of a page that the server draws: element[data-part] is fetched anew when its event comes, and swapped in place.
// Terminals keep what they show. The page's own address is asked, so a part is what a reload would bring.
import * as charts from "./charts.mjs";
import * as stream from "./stream.mjs";
import * as terminal from "./terminal.mjs";

const TOGETHER = 250;
const wanted = new Set();
let timer = 0;
let running = false;

async function refresh() {
  timer = 0;
  if (running) return later();
  running = true;
  const events = new Set(wanted);
  wanted.clear();
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (!answer.ok || answer.redirected) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-part]")) {
      const next = part.id && fresh.getElementById(part.id);
      const names = part.dataset.part.split(" ").filter((name) => events.has(name));
      // What somebody is in the middle of is left alone, unless the end has come.
      const busy = part.contains(document.activeElement) && !names.includes("done");
      if (next && names.length && !busy) swap(part, next);
    }
  } catch {
    // The stream tells of a server that is away; what is shown stays.
  } finally {
    running = false;
  }
}

function swap(part, next) {
  if (part.isEqualNode(next)) return;
  const open = part.querySelectorAll("details[id][open]");
  part.replaceWith(document.adoptNode(next));
  for (const { id } of open) document.getElementById(id)?.setAttribute("open", "");
  charts.attach();
  stream.attach();
  terminal.attach();
}

function later() {
  timer ||= setTimeout(refresh, TOGETHER);
}

export function start() {
  for (const name of ["changed", "measured", "state", "done"]) {
    document.addEventListener(`stream-${name}`, () => {
      wanted.add(name);
      later();
    });
  }
}
