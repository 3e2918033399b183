"""Families of keys: what is kept here is declared, with its owner, its end and what its loss means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from shared.runtime_state.contracts import RuntimeStateArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

_PLACE = re.compile(r"<([a-z][a-z0-9_]*)>")


@dataclass(frozen=True, kw_only=True)
class RuntimeStateFamily:
    """One row of the key reference. `pattern` is literal text with `<part>` places."""

    name: str
    pattern: str
    #: The class that alone reads and writes these keys.
    owner: str
    purpose: str
    ttl: timedelta
    #: What bounds one value.
    cap: str
    #: What is done after a restart or a loss.
    loss: str
    #: Whether a wrong or missing entry could change an answer; such a family does not belong here.
    correctness: bool = False

    def key(self, **parts: str) -> str:
        """Name one key. Parts are encoded, so two different calls never name the same key."""
        if parts.keys() != set(_PLACE.findall(self.pattern)) or not all(parts.values()):
            raise RuntimeStateArgumentError(f"a key of {self.name} takes its own parts, none of them empty")
        return _PLACE.sub(lambda place: quote(parts[place[1]], safe=""), self.pattern)


class RuntimeStateFamilies:
    """The families of one service."""

    def __init__(self, *families: RuntimeStateFamily) -> None:
        """Take in the families; no two have the same name."""
        self._families = {family.name: family for family in families}
        if len(self._families) != len(families):
            raise ValueError("a family is declared twice")

    def __iter__(self) -> Iterator[RuntimeStateFamily]:
        return iter(self._families.values())
