// Single live values: the event `values` carries {key: text}, each goes to the elements with that data-value.
export function start() {
  document.addEventListener("stream-values", (event) => {
    for (const [key, text] of Object.entries(event.detail)) {
      for (const element of document.querySelectorAll(`[data-value="${CSS.escape(key)}"]`)) {
        if (element.textContent === String(text)) continue;
        element.textContent = String(text);
        element.classList.remove("rl-flash");
        void element.offsetWidth;
        element.classList.add("rl-flash");
      }
    }
  });
}
