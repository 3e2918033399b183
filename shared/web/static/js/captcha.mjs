// A proof of work before a public form is sent (Cap). The widget stays out of sight: what happens is said in our own words.
// Work begins when somebody comes to the form. Each token is good once, so a form that is shown again earns another.
import { t } from "./messages.mjs";

const place = document.querySelector("[data-captcha]");
const field = place?.parentElement.querySelector("input[name='captcha']");
let solver = null;
let earned = null;

const say = (text) => { place.querySelector("[data-captcha-said]").textContent = text; };

function load() {
  // Read by the widget as soon as it runs.
  globalThis.CAP_CUSTOM_WASM_URL = place.dataset.captchaWasm;
  globalThis.CAP_CSS_NONCE = place.dataset.captchaNonce;
  globalThis.CAP_SILENT = true;
  return new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = place.dataset.captchaWidget;
    script.onload = () => loaded(new globalThis.Cap({ apiEndpoint: place.dataset.captcha }));
    script.onerror = () => failed(new Error("widget"));
    document.head.append(script);
  });
}

async function earn() {
  say(t("Checking that you are no robot…"));
  try {
    solver ??= await load();
    const { token } = await solver.solve();
    say(t("Checked: no robot."));
    return token;
  } catch (error) {
    // Where a passkey itself waits for the check, it is no way around it.
    say(place.closest("form").dataset.passkey
      ? t("The check cannot be done now. Try again in a moment.")
      : t("The check cannot be done now. A passkey works without it, or try again in a moment."));
    throw error;
  }
}

// A token to send along; empty where none is asked for.
export async function captchaToken() {
  if (!place) return "";
  earned ??= earn();
  try {
    return await earned;
  } finally {
    earned = null;
  }
}

function begin() {
  earned ??= earn();
  // Whoever sends the form hears of a failure.
  earned.catch(() => { earned = null; });
}

if (place) {
  const form = place.closest("form");
  form.addEventListener("focusin", begin, { once: true });
  if (!form.dataset.passkey) {
    form.addEventListener("submit", async (event) => {
      if (field.value) return;
      event.preventDefault();
      try {
        field.value = await captchaToken();
      } catch {
        return;
      }
      // A token that is there already comes before this event has ended, and until then a form is not sent again.
      setTimeout(() => form.requestSubmit());
    });
  }
}
