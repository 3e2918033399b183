"""What `show protocols` and `show protocols all` say, in every version that was seen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from node_agent.bird.framing import Line, Reply
from node_agent.bird.times import Since, take_since

_ROW = 1002
_BLOCK = 1006
_FIELDS_BEFORE_SINCE = 4
_ERROR_CLASSES = {
    "Socket:": "transport",
    "BGP Error:": "local_notification",
    "Received:": "remote_notification",
    "Error:": "local_error",
    "Automatic shutdown:": "limit",
}
_LABEL = re.compile(r"^(?P<indent> *)(?P<label>[A-Z][A-Za-z0-9 /-]*?)\s*:(?:\s+(?P<value>.*))?$")
_COUNT = re.compile(r"(\d+) (imported|filtered|exported|preferred)")
_LIMIT = re.compile(r"^(\d+)( \[HIT\])?$")
_CHANNEL_FIELDS = frozenset({"state", "table", "input filter", "output filter"})
_STATE_NAMES = frozenset(
    {
        "Idle",
        "Connect",
        "Active",
        "OpenSent",
        "OpenConfirm",
        "Established",
        "Close",
        "Passive",
        "Down",
        "Flush",
    }
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of prefixes as it stands."""

    prefixes: int
    hit: bool
    action: str = ""


@dataclass(slots=True)
class Channel:
    """One address family of a protocol. Counts are None while BIRD shows none, which is not zero."""

    name: str
    state: str = ""
    table: str = ""
    input_filter: str = ""
    output_filter: str = ""
    imported: int | None = None
    filtered: int | None = None
    exported: int | None = None
    preferred: int | None = None
    limits: dict[str, Limit] = field(default_factory=dict)
    #: `import updates` and the like to column to number; None where BIRD prints dashes.
    changes: dict[str, dict[str, int | None]] = field(default_factory=dict)


@dataclass(slots=True)
class ProtocolState:
    """One protocol instance."""

    name: str
    kind: str
    table: str | None
    state: str
    since: Since
    info: str
    description: str = ""
    bgp_state: str | None = None
    error: str = ""
    error_class: str | None = None
    #: Labelled values of the details, by label in lower case; the first of a label counts.
    details: dict[str, str] = field(default_factory=dict)
    channels: list[Channel] = field(default_factory=list)
    local_capabilities: list[str] = field(default_factory=list)
    neighbor_capabilities: list[str] = field(default_factory=list)

    @property
    def established(self) -> bool:
        """Whether a BGP session is up."""
        return self.bgp_state == "Established"


def read_protocols(reply: Reply, now: datetime) -> list[ProtocolState]:
    """All protocols of the reply, with details where it has them. `now` is aware, in BIRD's own zone."""
    found: list[ProtocolState] = []
    block: list[str] = []
    for line in reply.lines:
        if line.code == _ROW and line.text.strip():
            _close(found, block)
            block = []
            if (row := _row(line.text, now)) is not None:
                found.append(row)
        elif _in_block(line):
            block.append(line.text)
    _close(found, block)
    return found


def _in_block(line: Line) -> bool:
    return line.code == _BLOCK


def _close(found: list[ProtocolState], block: list[str]) -> None:
    if found and block:
        _details(found[-1], block)


def _row(text: str, now: datetime) -> ProtocolState | None:
    fields = text.split()
    if len(fields) < _FIELDS_BEFORE_SINCE:
        return None
    name, kind, table, state, *rest = fields
    since, rest = take_since(rest, now)
    info = " ".join(rest)
    row = ProtocolState(name, kind, None if table == "---" else table, state, since, info)
    if kind == "BGP":
        _bgp(row, rest)
    return row


def _bgp(row: ProtocolState, info: list[str]) -> None:
    if info and info[0] in _STATE_NAMES:
        row.bgp_state, info = info[0], info[1:]
    elif row.state == "down" and not info:
        row.bgp_state = "Down"
    _set_error(row, " ".join(info))


def _set_error(row: ProtocolState, text: str) -> None:
    row.error = text
    if text:
        classes = (kind for prefix, kind in _ERROR_CLASSES.items() if text.startswith(prefix))
        row.error_class = next(classes, "unknown")
    elif row.state == "down":
        row.error_class = "disabled"


def _details(row: ProtocolState, block: Iterable[str]) -> None:
    reader = _Details(row)
    for text in block:
        reader.take(text)
    if row.kind == "BGP":
        row.bgp_state = row.details.get("bgp state", row.bgp_state)
    row.description = row.details.get("description", "")


@dataclass(slots=True)
class _Details:
    """Reads one block from top to bottom; labels and indents tell where it is."""

    row: ProtocolState
    channel: Channel | None = None
    capabilities: list[str] | None = None
    columns: list[str] = field(default_factory=list)
    limit: str = ""

    def take(self, text: str) -> None:
        stripped = text.strip()
        if stripped.startswith("Channel "):
            self.channel = Channel(stripped.removeprefix("Channel "))
            self.row.channels.append(self.channel)
            self.capabilities = None
        elif stripped in {"Local capabilities", "Neighbor capabilities"}:
            local = stripped.startswith("Local")
            self.capabilities = self.row.local_capabilities if local else self.row.neighbor_capabilities
        elif (labelled := _LABEL.match(text)) is not None:
            self._labelled(labelled["label"].lower(), (labelled["value"] or "").strip(), stripped)
        elif self.capabilities is not None and stripped:
            self.capabilities.append(stripped)

    def _labelled(self, label: str, value: str, whole: str) -> None:
        if self.capabilities is not None and label in {"session", "source address", "hold timer"}:
            self.capabilities = None
        if self.capabilities is not None:
            self.capabilities.append(whole)
        elif self.channel is None:
            self.row.details.setdefault(label, value)
        else:
            self._channel(self.channel, label, value)

    def _channel(self, channel: Channel, label: str, value: str) -> None:
        if label in _CHANNEL_FIELDS:
            setattr(channel, label.replace(" ", "_"), value)
        elif label == "routes":
            for number, name in _COUNT.findall(value):
                setattr(channel, name, int(number))
        elif label.endswith(" limit") or label == "action":
            self._limited(channel, label, value)
        elif label == "route change stats":
            self.columns = _columns(value)
        elif label.endswith(("updates", "withdraws")) and self.columns:
            channel.changes[label] = dict(zip(self.columns, map(_number, value.split()), strict=False))

    def _limited(self, channel: Channel, label: str, value: str) -> None:
        if (limit := _LIMIT.match(value)) is not None:
            self.limit = label.removesuffix(" limit")
            channel.limits[self.limit] = Limit(int(limit[1]), limit[2] is not None)
        elif label == "action" and self.limit in channel.limits:
            known = channel.limits[self.limit]
            channel.limits[self.limit] = Limit(known.prefixes, known.hit, value)


def _columns(heading: str) -> list[str]:
    """Names of the columns; `RX limit` is the one name of two words."""
    return heading.replace("RX limit", "rx_limit").split()


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
