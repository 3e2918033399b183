// What was typed into a form that was refused for want of a recent proof stands in it again after the proof.
// It is kept in this tab alone, and only until the next page that is not on the way to the proof.
const KEY = "rl-draft";
const PROVING = "[data-step-up], form[data-passkey='step-up']";
const NEVER = new Set(["hidden", "password", "file", "submit", "button", "reset", "image"]);

const fields = (form) => [...form.elements].filter((field) => field.name && field.type && !NEVER.has(field.type) && field.autocomplete !== "one-time-code");
const chosen = (field) => field.type === "checkbox" || field.type === "radio";
const state = (field) => (chosen(field) ? field.checked : field.value);
const address = (form) => new URL(form.getAttribute("action") ?? "", location.href).pathname;

function keep({ target: form }) {
  if (!(form instanceof HTMLFormElement) || form.method !== "post" || document.querySelector(PROVING)) return;
  const typed = fields(form).map((field) => [field.name, chosen(field) ? field.value : null, state(field)]);
  if (typed.length > 0) sessionStorage.setItem(KEY, JSON.stringify({ page: location.pathname, action: address(form), typed, proving: false }));
}

function putBack(draft) {
  const form = [...document.forms].find((each) => each.method === "post" && address(each) === draft.action);
  if (!form) return;
  for (const field of fields(form)) {
    const kept = draft.typed.find(([name, value]) => name === field.name && (value === null || value === field.value));
    if (!kept) continue;
    if (chosen(field)) field.checked = kept[2];
    else field.value = kept[2];
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const folded = form.closest("details");
  if (folded) folded.open = true;
  form.scrollIntoView({ block: "center" });
}

export function start() {
  document.addEventListener("submit", keep);
  const draft = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  if (!draft) return;
  if (document.querySelector(PROVING)) {
    sessionStorage.setItem(KEY, JSON.stringify({ ...draft, proving: true }));
    return;
  }
  if (draft.proving && location.pathname !== draft.page) return;
  sessionStorage.removeItem(KEY);
  if (draft.proving) putBack(draft);
}
