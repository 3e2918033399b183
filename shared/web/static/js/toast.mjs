// Results in the corner: success leaves after six seconds unless it is being read, failure stays.
import { icon } from "./icons.mjs";
import { t } from "./messages.mjs";

const LEAVES_AFTER = 6000;
const LOOKS = {
  ok: ["circle-check-filled", "rl-shape-ok"],
  bad: ["square-x-filled", "rl-shape-down"],
  warn: ["clock-filled", "rl-shape-stale"],
  info: ["info-circle", "rl-shape-running"],
};

function leaveLater(toast) {
  if (toast.dataset.toast === "bad") return;
  let timer = 0;
  const arm = () => { timer = setTimeout(() => toast.remove(), LEAVES_AFTER); };
  toast.addEventListener("pointerenter", () => clearTimeout(timer));
  toast.addEventListener("focusin", () => clearTimeout(timer));
  toast.addEventListener("pointerleave", arm);
  arm();
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/** Shows a result: { title, text, tone: ok | bad | warn | info, action, href }. */
export function showToast({ title, text = "", tone = "ok", action = "", href = "" }) {
  const toast = element("div", "rl-toast");
  toast.dataset.toast = tone;
  toast.setAttribute("role", tone === "bad" ? "alert" : "status");
  const words = element("div", "rl-toast-text");
  words.append(element("strong", "", title), text);
  toast.append(icon(...(LOOKS[tone] ?? LOOKS.info)), words);
  if (action) {
    const link = element("a", "", action);
    link.href = href;
    toast.append(link);
  }
  const close = element("button", "rl-tool rl-tool-small");
  close.type = "button";
  close.dataset.toastClose = "";
  close.setAttribute("aria-label", t("Close"));
  close.append(icon("x", "rl-icon-15"));
  toast.append(close);
  document.getElementById("rl-toasts").append(toast);
  leaveLater(toast);
}

export function start() {
  document.querySelectorAll("[data-toast]").forEach(leaveLater);
  document.addEventListener("click", (event) => event.target.closest("[data-toast-close]")?.closest("[data-toast]").remove());
  document.addEventListener("rl-toast", (event) => showToast(event.detail));
}
