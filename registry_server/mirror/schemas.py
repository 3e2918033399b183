"""What a mirror is told, and what it says of itself."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from registry_server.history.schemas import LoggedCommit
from registry_server.objects.schemas import IndexCounts

#: An absolute path, a URL of a transport that runs no command of the URL's choosing, or user@host:path.
_REMOTE = re.compile(
    r"/\S.*|(?:file|https|ssh)://[^\s-]\S*|[A-Za-z0-9][A-Za-z0-9._-]*@[A-Za-z0-9\[][A-Za-z0-9.\[\]:_-]*:[^:\s-]\S*"
)


class MirrorSettings(BaseModel):
    """Which repository is mirrored, and how carefully."""

    model_config = ConfigDict(frozen=True)

    url: SecretStr | None = Field(
        default=None, description="Absolute path, https:// or ssh:// URL of the registry; empty: nothing"
    )
    branch: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$",
        description="Empty: the one upstream calls HEAD",
    )
    interval: timedelta = Field(default=timedelta(minutes=1), description="Time between two looks upstream")
    time_limit: timedelta = Field(default=timedelta(minutes=10), description="Longest run of one git command")
    ready_within: timedelta = Field(
        default=timedelta(hours=24),
        gt=timedelta(0),
        description="`/registry/readyz` says 503 after so long without a look upstream that went well; "
        "whoever asks all the same gets the last good state",
    )
    webhook_secret: SecretStr | None = Field(
        default=None, description="Signs what a forge posts to .../webhook after a push; empty: no webhook"
    )
    drop_share: float = Field(
        default=0.2,
        gt=0,
        le=1,
        description="A sync that would drop more of the objects, of the sound ones of a class, of the routes "
        "or of the ROAs of a family is held",
    )
    drop_floor: int = Field(default=25, ge=0, description="Dropping fewer than this is never held")
    file_bytes: int = Field(default=262_144, ge=1024, description="A larger file is reported, not read")
    total_bytes: int = Field(default=536_870_912, ge=1024, description="A larger registry is refused")
    history: int = Field(default=500, ge=10, description="Syncs that are remembered")

    @field_validator("branch", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        """A variable that is there and empty."""
        return value or None if isinstance(value, str) else value

    @field_validator("url")
    @classmethod
    def _known_transport(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or not value.get_secret_value():
            return None
        if not _REMOTE.fullmatch(value.get_secret_value()):
            message = "must be an absolute path, an https:// or ssh:// URL, or user@host:path"
            raise ValueError(message)
        return value


class TreeEntry(NamedTuple):
    """One file of a commit; `blob` is meaningless for what is no blob."""

    path: bytes
    mode: str
    blob: str


#: Size and text of one object: without a size it is missing or no blob, without a text too large.
Blob = tuple[int | None, bytes | None]


class TreeDifference(NamedTuple):
    """From one commit to another."""

    removed: list[bytes]
    changed: list[TreeEntry]


class RemoteTip(NamedTuple):
    """What upstream's branch points at."""

    branch: str
    commit: str


class Line(NamedTuple):
    """What to add to the history."""

    #: The commit that these follow; None: they are the whole line.
    base: str | None
    #: The oldest first.
    commits: list[LoggedCommit]
    #: The date of the newest commit of the line.
    committed_at: datetime


class SyncMode(StrEnum):
    """How much was read."""

    INCREMENTAL = "incremental"
    FULL = "full"


class Loss(NamedTuple):
    """How much of something there was, and how much of that would be no more."""

    what: str
    had: int
    lost: int


class Weight(NamedTuple):
    """What others rely on, at one state of the index."""

    #: Class → how many objects of it take part in what is derived.
    sound: Mapping[str, int]
    #: What the ROAs of a family are called → what they authorise.
    roas: Mapping[str, frozenset[Hashable]]


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync will do to the index."""

    mode: SyncMode
    #: What the index must still hold when the plan is carried out.
    base: str | None
    #: The applied sync of it.
    version: int
    branch: str
    commit: str
    removed: list[bytes]
    #: Files to be read.
    entries: list[TreeEntry]

    @property
    def touched(self) -> list[bytes]:
        """Every path that the plan is about."""
        return [*self.removed, *(entry.path for entry in self.entries)]


class SyncTrigger(StrEnum):
    """Who asked for a sync."""

    SCHEDULE = "schedule"
    REQUEST = "request"
    COMMAND = "command"
    WEBHOOK = "webhook"


class SyncOutcome(StrEnum):
    """How a sync ended."""

    APPLIED = "applied"
    UNCHANGED = "unchanged"
    HELD = "held"
    FAILED = "failed"


class SyncRead(BaseModel):
    """One sync."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    outcome: SyncOutcome
    trigger: SyncTrigger
    mode: SyncMode | None
    started_at: datetime
    finished_at: datetime
    from_commit: str | None
    to_commit: str | None
    #: Files removed and files read.
    removed: int
    changed: int
    code: str | None
    detail: str | None
    #: How often in a row this happened.
    repeats: int = 1


class Standing(NamedTuple):
    """Where the mirror stands when a sync begins, and what became of the sync before."""

    version: int
    last_sync: int
    commit: str | None
    grammar: int
    counts: dict[str, Any]
    #: Of the last sync of any outcome, where that was asked for.
    outcome: str | None = None
    to_commit: str | None = None
    detail: str | None = None


class SyncPage(BaseModel):
    """Syncs, newest first."""

    items: list[SyncRead]
    next: str | None = Field(default=None, description="Give as `cursor` to go on; null at the end")


class SyncStage(StrEnum):
    """How far a sync has come."""

    ASKING = "asking"
    FETCHING = "fetching"
    READING = "reading"
    APPLYING = "applying"
    ENDED = "ended"


class SyncProgress(BaseModel):
    """What a sync last said of itself."""

    stage: SyncStage
    trigger: SyncTrigger
    started_at: datetime
    #: When this was said.
    heartbeat_at: datetime
    to_commit: str | None = None
    #: How it ended, and the reason where it was refused.
    outcome: SyncOutcome | None = None
    code: str | None = None


class MirrorStatus(BaseModel):
    """What the registry knows and how fresh that is."""

    model_config = ConfigDict(from_attributes=True)

    #: Rises with every applied sync; 0 before the first.
    version: int
    commit: str | None
    committed_at: datetime | None
    applied_at: datetime | None
    #: The last time upstream was asked and had nothing newer than what is served.
    checked_at: datetime | None
    lag_seconds: int | None = Field(description="Since that time; null before the first sync")
    stale: bool = Field(description="Whether that is longer than `ready_within` of the settings")
    branch: str | None
    counts: IndexCounts
    #: Newest first.
    syncs: list[SyncRead]
    running: SyncProgress | None = Field(
        default=None, description="The sync that runs now, as far as that is known; all else is from SQL"
    )


class SyncRequest(BaseModel):
    """How to sync."""

    force: bool = Field(default=False, description="Apply also what would be held")
