"""The Lua scripts beside this module: what must change together changes in one of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_DIRECTORY = Path(__file__).parent / "scripts"


@dataclass(frozen=True, slots=True)
class Script:
    """A script and the digest under which a server keeps it."""

    name: str
    source: bytes
    digest: str


@cache
def script(name: str) -> Script:
    """Read a script once; the first line must be its shebang, so that the server checks the declared keys."""
    source = (_DIRECTORY / f"{name}.lua").read_bytes()
    if not source.startswith(b"#!lua"):
        raise ValueError(f"the script {name} has no shebang")
    return Script(name, source, hashlib.sha1(source, usedforsecurity=False).hexdigest())
