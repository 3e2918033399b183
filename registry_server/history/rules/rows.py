"""From logged commits to the rows that are stored for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from registry_server.history.schemas import FileChange, LoggedCommit
from registry_server.objects.rules.paths import show

_LONGEST = 300


@dataclass(slots=True)
class HistoryRows:
    """For each table the values of its rows, one row after the other, in the order of its columns."""

    commits: list[Any] = field(default_factory=list)
    #: Where files were added, as nearly all once were: path, position and blob alone.
    added: list[Any] = field(default_factory=list)
    changes: list[Any] = field(default_factory=list)


def history_rows(commits: Iterable[LoggedCommit], first: int) -> HistoryRows:
    """Everything to store for the commits, oldest first, the first one at position `first`."""
    rows = HistoryRows()
    added, changes = rows.added, rows.changes
    for position, logged in enumerate(commits, start=first):
        author, summary = _plain(logged.author), _plain(logged.summary)
        rows.commits += (position, logged.commit, author, logged.authored, summary)
        moved = _moves(logged.changes)
        for path, before, after in logged.changes:
            if before is None and path not in moved:
                added += (show(path), position, after)
            else:
                changes += (show(path), position, before, after, moved.get(path))
    return rows


def _moves(changes: list[FileChange]) -> dict[bytes, str]:
    """Both ends of each move: a text that left one path and stands at another, unchanged."""
    gone = {before: path for path, before, after in changes if before and after is None}
    if not gone:
        return {}
    moved: dict[bytes, str] = {}
    for path, before, after in changes:
        if before is None and after in gone:
            origin = gone.pop(after)
            moved[path], moved[origin] = show(origin), show(path)
    return moved


def _plain(text: str) -> str:
    """What both databases take, on one line."""
    kept = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text.strip())
    return kept if len(kept) <= _LONGEST else f"{kept[: _LONGEST - 1]}…"
