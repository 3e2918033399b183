// What htmx sends and gets: the form token as a header on writes, a refusal as a toast, new elements brought to life.
import { t } from "./messages.mjs";
import * as stream from "./stream.mjs";
import * as terminal from "./terminal.mjs";
import { showToast } from "./toast.mjs";

const token = () => document.querySelector("meta[name='csrf-token']")?.content ?? "";

export function start() {
  document.addEventListener("htmx:config:request", (event) => {
    const { request } = event.detail.ctx;
    if (request.method.toUpperCase() !== "GET") request.headers["X-CSRF-Token"] = token();
  });
  // A part that is sent elsewhere, as to sign-in, must not end up inside the page: the page itself goes there.
  document.addEventListener("htmx:before:response", (event) => {
    const { request, response } = event.detail.ctx;
    if (request.method.toUpperCase() !== "GET" || !response.raw.redirected) return;
    event.preventDefault();
    location.reload();
  });
  document.addEventListener("htmx:response:error", (event) => {
    const { status } = event.detail.ctx.response;
    if (status === 422) return;
    showToast({ tone: "bad", title: t("Not done"), text: t("The server refused with status {status}. Nothing was changed.", { status }) });
  });
  document.addEventListener("htmx:error", (event) => {
    if (!event.detail.ctx) return;
    showToast({ tone: "bad", title: t("No answer"), text: t("The server cannot be reached. What is shown may be old.") });
  });
  document.addEventListener("htmx:after:settle", () => {
    stream.attach();
    terminal.attach();
  });
}
