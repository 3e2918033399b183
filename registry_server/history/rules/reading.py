"""What is shown of a stored change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from difflib import unified_diff
from typing import NamedTuple

from registry_server.history.schemas import ChangeKind, ChangeRead


class StoredChange(NamedTuple):
    """A change and its commit, as the index has them."""

    position: int
    commit: str
    author: str
    authored: int
    summary: str
    before: str | None
    after: str | None
    moved: str | None


def kind_of(change: StoredChange) -> ChangeKind:
    """What became of the object."""
    if change.after is None:
        return ChangeKind.MOVED_AWAY if change.moved else ChangeKind.REMOVED
    if change.before is None:
        return ChangeKind.MOVED_HERE if change.moved else ChangeKind.ADDED
    return ChangeKind.CHANGED


def read_change(change: StoredChange) -> ChangeRead:
    """The change as readers see it."""
    return ChangeRead(
        commit=change.commit,
        kind=kind_of(change),
        author=change.author,
        authored_at=datetime.fromtimestamp(change.authored, UTC),
        summary=change.summary,
        moved=change.moved,
    )


def difference(before: bytes | None, after: bytes | None) -> str:
    """Unified lines; a text without a final line feed says so, as git does."""
    return "".join(_lines(before, after))


def _lines(before: bytes | None, after: bytes | None) -> Iterator[str]:
    for line in list(unified_diff(_split(before), _split(after), n=3))[2:]:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _split(text: bytes | None) -> list[str]:
    shown = (text or b"").decode(errors="replace")
    return [f"{line}\n" for line in shown.split("\n")[:-1]] + (
        [last] if (last := shown.split("\n")[-1]) else []
    )
