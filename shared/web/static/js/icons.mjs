// Icons of the sprite that the page already uses.
const SVG = "http://www.w3.org/2000/svg";
const first = document.querySelector("use[href*='/icons/icons.svg#']");
const sprite = first ? first.getAttribute("href").split("#")[0] : "";

export function icon(name, ...classes) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("class", ["rl-icon", ...classes].join(" "));
  drawing.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${sprite}#${name}`);
  drawing.append(use);
  return drawing;
}

export function changeIcon(element, name) {
  element?.querySelector("use")?.setAttribute("href", `${sprite}#${name}`);
}
