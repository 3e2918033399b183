"""The requirements, and which of them a test stands for: `test_c1_e2_…` for C1 and E2."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
#: The plugin of pytest that keeps the outcomes where the table of results is written.
RECORDER = "conformance-table"
#: The other server, as the packages name it.
PEER = "oidc-provider"
_NAMED = re.compile(r"test_((?:[a-p][0-9]+_)+)")


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement."""

    ident: str
    requirement: str
    section: str


@cache
def all_rows() -> dict[str, Row]:
    """Every requirement by its id, in the order of the file."""
    sections = tomllib.loads((HERE / "rows.toml").read_text(encoding="utf-8"))
    return {
        ident: Row(ident, requirement, section["title"])
        for section in sections.values()
        for ident, requirement in section["rows"].items()
    }


def rows_named_by(test: str) -> tuple[str, ...]:
    """The ids that begin a test's name."""
    found = _NAMED.match(test)
    return tuple(found[1].upper().rstrip("_").split("_")) if found else ()
