// Passkeys: forms with data-passkey run their ceremony between two calls of our API, and go on to where the server says.
// A sign-in form also offers passkeys in the field itself (conditional UI) while nobody presses its button.
import { captchaToken } from "./captcha.mjs";
import { t } from "./messages.mjs";

const { browserSupportsWebAuthn, browserSupportsWebAuthnAutofill, startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;
const API = "/auth/api/v1";
// A challenge lives for five minutes; an offer that waits longer gets a new one before that.
const OFFER_ANEW = 240_000;
const MOST_REFUSALS = 3;
const ABORTED = "ERROR_CEREMONY_ABORTED";

class Refused extends Error {
  constructor(problem) {
    super(problem.detail ?? "");
    this.code = problem.code ?? "";
  }
}

async function post(path, body) {
  const answer = await fetch(`${API}/${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": document.querySelector("meta[name='csrf-token']").content },
    body: JSON.stringify(body),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(told);
  return told;
}

function sentence(error) {
  if (!(error instanceof Refused)) {
    if (error.name === "InvalidStateError") return t("This authenticator holds a passkey of this account already.");
    if (error.name === "NotAllowedError" || error.code === ABORTED) return t("The browser ended it: cancelled, or no time left. Try again.");
    if (error instanceof TypeError) return t("The server cannot be reached. Try again.");
    return t("The browser could not use a passkey here.");
  }
  return {
    account_name_taken: t("Somebody else has this name. Choose another one."),
    captcha_away: t("Whether you are a robot cannot be checked now. Try again in a moment."),
    captcha_refused: t("The check that you are no robot has run out. Try again."),
    ceremony_gone: t("That took too long. Try again."),
    csrf_failed: t("This page is too old. Load it again."),
    invitation_refused: t("The invitation was used, withdrawn or has run out. Ask for a new one."),
    invalid_input: t("A name has 2 to 32 letters, digits, dots, dashes or underscores."),
    passkey_known: t("This passkey is registered already."),
    passkey_refused: t("This passkey is not accepted here."),
    passkey_registration_refused: t("This passkey cannot be registered: it must check a PIN, a finger or a face."),
    sign_in_throttled: t("Too many failed attempts from here. Wait a quarter of an hour, then try again."),
    too_many_passkeys: t("This account holds as many passkeys as it can. Remove one first."),
    unauthenticated: t("You are signed out. Sign in again."),
  }[error.code] ?? t("The server refused. Nothing was changed.");
}

const values = (form) => Object.fromEntries(new FormData(form));

async function signIn(form, hints, conditional = false) {
  const name = conditional ? "" : (values(form).name ?? "");
  const { ceremony, options } = await post("sign-in/options", { name });
  const credential = await startAuthentication({ optionsJSON: { ...options, hints }, useBrowserAutofill: conditional });
  const captcha = await captchaToken().catch(() => { throw new Refused({ code: "captcha_away" }); });
  try {
    return await post("sign-in", { ceremony, credential, next: form.dataset.next ?? "", captcha });
  } catch (error) {
    // It became due after the page was drawn; drawn anew, the page brings it along.
    if (error.code !== "captcha_needed") throw error;
    location.reload();
    return new Promise(() => {});
  }
}

async function confirm(next = "") {
  const { ceremony, options } = await post("step-up/options", {});
  const credential = await startAuthentication({ optionsJSON: options });
  return post("step-up", { ceremony, credential, next });
}

async function accept(form) {
  const { name, display_name, invitation } = values(form);
  const { ceremony, options } = await post("invitations/accept/options", { name, display_name, invitation });
  const credential = await startRegistration({ optionsJSON: options });
  return post("invitations/accept", { ceremony, credential, invitation });
}

async function add(form) {
  let begun;
  try {
    begun = await post("passkeys/options", {});
  } catch (error) {
    if (error.code !== "step_up_needed") throw error;
    await confirm();
    begun = await post("passkeys/options", {});
  }
  const credential = await startRegistration({ optionsJSON: begun.options });
  await post("passkeys", { ceremony: begun.ceremony, credential, name: values(form).passkey_name ?? "" });
  return { next: location.pathname };
}

const ACTS = {
  "sign-in": (form, button) => signIn(form, button?.dataset.hint ? [button.dataset.hint] : []),
  "step-up": (form) => confirm(form.dataset.next),
  accept,
  add,
};

function say(form, text) {
  const place = form.querySelector("[data-passkey-error]");
  place.textContent = text;
  place.hidden = text === "";
}

async function act(form, button) {
  say(form, "");
  const buttons = form.querySelectorAll("button");
  buttons.forEach((each) => { each.disabled = true; });
  try {
    const done = await ACTS[form.dataset.passkey](form, button);
    location.assign(done.next);
  } catch (error) {
    say(form, sentence(error));
    buttons.forEach((each) => { each.disabled = false; });
    if (form.dataset.passkey === "sign-in") offer(form);
  }
}

// Waits in the field's own list until somebody picks a passkey there, or until a button's ceremony takes over.
async function offer(form) {
  if (!(await browserSupportsWebAuthnAutofill())) return;
  clearTimeout(offer.timer);
  offer.timer = setTimeout(() => offer(form), OFFER_ANEW);
  try {
    const done = await signIn(form, [], true);
    location.assign(done.next);
  } catch (error) {
    if (!(error instanceof Refused)) return;
    say(form, sentence(error));
    offer.refusals = (offer.refusals ?? 0) + 1;
    if (offer.refusals < MOST_REFUSALS) offer(form);
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!browserSupportsWebAuthn()) {
    say(form, t("This browser knows no passkeys."));
    continue;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(offer.timer);
    act(form, event.submitter);
  });
  form.querySelectorAll("button[data-scripted]").forEach((each) => { each.disabled = false; });
  if (form.dataset.passkey === "sign-in") offer(form);
}
