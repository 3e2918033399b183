// Theme without a round trip: the form's answer is kept by the server, the page changes at once. The language form is
// sent as any form, because every word of the page changes with it.
import { changeIcon } from "./icons.mjs";
import { t } from "./messages.mjs";
import { showToast } from "./toast.mjs";

const ICONS = { system: "device-desktop", light: "sun", dark: "moon" };

function show(form, theme) {
  const root = document.documentElement;
  root.dataset.theme = theme;
  if (theme === "system") delete root.dataset.bsTheme;
  else root.dataset.bsTheme = theme;
  for (const button of form.querySelectorAll("button[name='theme']")) {
    const chosen = button.value === theme;
    button.setAttribute("aria-pressed", String(chosen));
    button.querySelector(".rl-menu-mark").hidden = !chosen;
  }
  const opener = document.querySelector("[data-theme-button]");
  changeIcon(opener, ICONS[theme]);
  const name = opener?.querySelector("[data-theme-name]");
  if (name) name.textContent = form.querySelector(`button[value='${theme}'] span`).textContent;
}

async function keep(form, button) {
  show(form, button.value);
  form.closest("[popover]")?.hidePopover();
  const answer = await fetch(form.action, {
    method: "POST",
    body: new URLSearchParams(new FormData(form, button)),
    headers: { Accept: "application/json" },
  }).catch(() => null);
  if (!answer?.ok) showToast({ tone: "bad", title: t("Theme not kept"), text: t("It lasts until this page is left.") });
}

export function start() {
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-preference='theme']");
    if (!form || !event.submitter) return;
    event.preventDefault();
    keep(form, event.submitter);
  });
}
