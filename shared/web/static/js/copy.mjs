// One click copies what data-copy holds; the icon says so for a moment, and a reader hears it.
import { changeIcon } from "./icons.mjs";
import { t } from "./messages.mjs";
import { showToast } from "./toast.mjs";

const SHOWN = 1500;

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    showToast({ tone: "bad", title: t("Not copied"), text: t("The browser refused. Select the text and copy it by hand.") });
    return;
  }
  changeIcon(button, "check");
  document.getElementById("rl-spoken").textContent = t("Copied");
  setTimeout(() => changeIcon(button, "copy"), SHOWN);
}

export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
}
