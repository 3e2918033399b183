"""What follows once a configuration runs: BIRD lets in what a limit had blocked only when it is asked to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from shared.rendering.bundle import Bundle

_PEERS = "peers/"
_LIMIT = re.compile(r"^\s*(?:import|receive) limit .*$", re.MULTILINE)
_SESSION = re.compile(r"^protocol bgp (\S+) ", re.MULTILINE)


def sessions_with_other_limits(before: Path, bundle: Bundle) -> tuple[str, ...]:
    """Sessions that were there in the directory of files, and whose limits are others now."""
    return tuple(_changed(before, bundle))


def _changed(before: Path, bundle: Bundle) -> Iterator[str]:
    for name, text in bundle.files.items():
        if not name.startswith(_PEERS):
            continue
        try:
            old = (before / name).read_text(encoding="utf-8")
        except OSError:
            continue
        if _LIMIT.findall(old) != _LIMIT.findall(text):
            yield from set(_SESSION.findall(old)) & set(_SESSION.findall(text))
