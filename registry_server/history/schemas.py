"""Words of history: commits and what they changed."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

#: One file of a commit: its path and its blob before and afterwards; None says that it was not there.
FileChange = tuple[bytes, str | None, str | None]


class LoggedCommit(NamedTuple):
    """One commit of the first-parent line, and how it differs from the one before."""

    commit: str
    #: The commit before it on the line; None for the first of all.
    parent: str | None
    #: Seconds since 1970.
    authored: int
    author: str
    summary: str
    changes: list[FileChange]
    #: Seconds since 1970 at which it was put on the line.
    committed: int = 0


class ChangeKind(StrEnum):
    """What became of an object."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    #: The text came here from another file, or went there, unchanged.
    MOVED_HERE = "moved_here"
    MOVED_AWAY = "moved_away"


class ChangeRead(BaseModel):
    """One step in the life of an object."""

    commit: str
    kind: ChangeKind
    author: str
    authored_at: datetime = Field(description="As the author's clock had it: these need not rise")
    summary: str
    moved: str | None = Field(default=None, description="The other path of a move")


class HistoryPage(BaseModel):
    """Newest first, in the order of the registry's main line."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "path": "data/aut-num/AS4242429901",
                    "items": [
                        {
                            "commit": "0123456789abcdef0123456789abcdef01234567",
                            "kind": "changed",
                            "author": "Foo Example",
                            "authored_at": "2030-01-01T12:00:00Z",
                            "summary": "Rename our network",
                            "moved": None,
                        }
                    ],
                    "next": None,
                }
            ]
        }
    )

    path: str
    items: list[ChangeRead]
    next: str | None = Field(default=None, description="Give as `cursor` to go on; null at the end")


class ChangeDetail(ChangeRead):
    """One step with its texts and the difference between them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "commit": "0123456789abcdef0123456789abcdef01234567",
                    "kind": "added",
                    "author": "Foo Example",
                    "authored_at": "2030-01-01T12:00:00Z",
                    "summary": "Add our network",
                    "moved": None,
                    "path": "data/aut-num/AS4242429901",
                    "text": "aut-num:            AS4242429901\n…",
                    "diff": "+aut-num:            AS4242429901\n…",
                }
            ]
        }
    )

    path: str
    text: str | None = Field(description="The object after the commit; null where it was removed")
    diff: str = Field(description="Unified, without a head; empty where nothing in the text changed")
