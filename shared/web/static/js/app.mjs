// Brings a page to life. Everything works by delegation, so parts that arrive later need nothing of their own.
import * as charts from "./charts.mjs";
import * as copy from "./copy.mjs";
import * as dialog from "./dialog.mjs";
import * as drafts from "./drafts.mjs";
import * as keys from "./keys.mjs";
import * as parts from "./parts.mjs";
import * as requests from "./requests.mjs";
import * as stream from "./stream.mjs";
import * as status from "./stream-status.mjs";
import * as terminal from "./terminal.mjs";
import * as theme from "./theme.mjs";
import * as time from "./time.mjs";
import * as toast from "./toast.mjs";
import * as values from "./values.mjs";

document.documentElement.dataset.scripts = "on";
for (const module of [charts, copy, dialog, drafts, keys, parts, requests, terminal, theme, time, toast, values, status, stream]) module.start();
