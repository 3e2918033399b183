// Draws static/icons/icons.svg from the icons named in icons.json: one <symbol> each, nothing else.
// Run with node after `npm ci`; the result is committed, so an installation does not need the icon package.
import { readFile, writeFile } from "node:fs/promises";

const here = new URL(".", import.meta.url);
const wanted = JSON.parse(await readFile(new URL("icons.json", here), "utf8"));
const background = /<path stroke="none" d="M0 0h24v24H0z" fill="none" \/>/g;

async function symbol(style, name) {
  const source = await readFile(new URL(`node_modules/@tabler/icons/icons/${style}/${name}.svg`, here), "utf8");
  const drawing = source.replace(/^[\s\S]*?<svg[^>]*>/, "").replace("</svg>", "").replace(background, "").replace(/\s*\n\s*/g, "");
  const paint = style === "filled" ? ' fill="currentColor" stroke="none"' : "";
  const id = style === "filled" ? `${name}-filled` : name;
  return `<symbol id="${id}" viewBox="0 0 24 24"${paint}>${drawing}</symbol>`;
}

const symbols = [];
for (const style of ["filled", "outline"]) {
  for (const name of wanted[style]) symbols.push(await symbol(style, name));
}
const notice = "<!-- Tabler Icons, MIT licence, see LICENSE beside this file. -->";
const sprite = `<svg xmlns="http://www.w3.org/2000/svg">\n${notice}\n${symbols.join("\n")}\n</svg>\n`;
await writeFile(new URL("../static/icons/icons.svg", here), sprite);
