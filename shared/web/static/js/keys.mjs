// `/` search, `g` and a letter for a page of the sidebar, `t` tables of charts,
// `?` help. Nothing while somebody types or a dialog is open.
import { toggleTables } from "./charts.mjs";
import { openDialog } from "./dialog.mjs";

const SECOND_KEY_WITHIN = 1500;
let leader = 0;

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]") !== null;

function search() {
  const field = document.querySelector("[data-search]");
  if (!field) return;
  const box = field.closest("[popover]");
  if (getComputedStyle(box).display === "none") box.showPopover();
  field.focus();
  field.select();
}

function go(key) {
  document.querySelector(`.rl-nav [data-key="${CSS.escape(key)}"]`)?.click();
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (Date.now() - leader < SECOND_KEY_WITHIN) {
    leader = 0;
    go(event.key);
  } else if (event.key === "g") {
    leader = Date.now();
  } else if (event.key === "/") {
    event.preventDefault();
    search();
  } else if (event.key === "t") {
    toggleTables();
  } else if (event.key === "?") {
    openDialog("rl-keys");
  }
}

export function start() {
  document.addEventListener("keydown", pressed);
}
