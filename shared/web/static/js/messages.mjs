// Messages in the language of the page. The server reads t() and tn() calls out of these modules and sends what differs
// from the English source in a data block, so a message is written once, where it is used.
const block = document.getElementById("rl-messages");
const known = block ? JSON.parse(block.textContent) : {};

const fill = (message, values) => message.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));

export function t(message, values = {}) {
  return fill(known[message] ?? message, values);
}

export function tn(one, many, count, values = {}) {
  const message = count === 1 ? one : many;
  return fill(known[message] ?? message, { n: count.toLocaleString(document.documentElement.lang), ...values });
}
