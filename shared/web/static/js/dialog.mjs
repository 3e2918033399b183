// Dialogs open by data-dialog-open and close by data-dialog-close, Escape or a click beside them. A dialog that asks for
// a name keeps its button off until the name is there, and says why.
import { t } from "./messages.mjs";

function check(form) {
  const input = form.querySelector("[name='confirmation']");
  const why = form.querySelector("[data-typed-why]");
  const matches = input.value === form.dataset.typed;
  form.querySelector("[data-typed-submit]").disabled = !matches;
  const started = input.value !== "" && !matches;
  if (started) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
  why.classList.toggle("rl-help-error", started);
  why.textContent = matches ? "" : started ? t("Not the name yet") : t("The button works once the name is typed");
}

export function openDialog(id) {
  const dialog = document.getElementById(id);
  if (!dialog || dialog.open) return;
  dialog.querySelectorAll("form[data-typed]").forEach((form) => {
    form.reset();
    check(form);
  });
  dialog.showModal();
}

export function start() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog-open]");
    if (opener) openDialog(opener.dataset.dialogOpen);
    else if (event.target.closest("[data-dialog-close]")) event.target.closest("dialog").close();
    else if (event.target.matches("dialog.rl-dialog[open]") && beside(event)) event.target.close();
  });
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-typed]");
    if (form) check(form);
  });
}

function beside(event) {
  const box = event.target.getBoundingClientRect();
  return event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom;
}
