"""Changes as people read them: grouped by the thing that changes, and files by numbered lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Any, Literal

from control_server.policy.schemas import FileDifference, StateChange
from shared.protocol.desired_state.links import EVERYTHING
from shared.protocol.desired_state.peerings import Session

Sign = Literal["+", "-", "~"]

#: Lists whose members are things of their own.
_THINGS = frozenset({"peerings", "links", "anycast", "collectors", "static_routes"})
_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class ThingChange:
    """Everything that changes of one peering, link or part of the node."""

    kind: str
    name: str
    sign: Sign
    rows: Sequence[StateChange]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a file's difference; the middle part of it is what differs inside the line."""

    kind: Literal["hunk", "same", "added", "removed"]
    old: int | None
    new: int | None
    head: str
    middle: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file with its lines and how many came and went."""

    path: str
    state: Literal["new", "gone", "changed"]
    added: int
    removed: int
    rows: Sequence[DiffRow]


def by_thing(changes: Sequence[StateChange]) -> list[ThingChange]:
    """Changes of the same thing together, in the order in which they come."""
    groups: dict[tuple[str, str], list[StateChange]] = {}
    for change in changes:
        kind, name, rest = _place(change.path)
        rows = [change.model_copy(update={"path": rest})] if rest else list(_members(change))
        groups.setdefault((kind, name), []).extend(rows)
    return [ThingChange(kind, name, _sign(rows), rows[:_MOST_ROWS]) for (kind, name), rows in groups.items()]


def _place(path: str) -> tuple[str, str, str]:
    kind, _, rest = path.partition(".")
    if kind in _THINGS and rest:
        name, _, field = rest.partition(".")
        return kind, name, field
    return kind, "", rest or kind


def _members(change: StateChange) -> Iterator[StateChange]:
    """Of a thing that is new or gone, its facts one by one, less what is not set or what is as always."""
    old, new = _flat(change.before), _flat(change.after)
    usual = _usual()
    for name in dict.fromkeys([*old, *new]):
        if usual.get(name) == (new if name in new else old)[name]:
            continue
        yield StateChange(path=name, before=old.get(name), after=new.get(name))


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        unset = value is None or value is False or value == [] or not path
        return {} if unset else {path: value}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found |= _flat(inner, f"{path}.{name}" if path else name)
    return found


@cache
def _usual() -> dict[str, Any]:
    """What a session and a tunnel have unless somebody says otherwise."""
    session = Session.model_construct(neighbor6=None).model_dump(mode="json", exclude={"families", "mode"})
    return _flat({"session": session, "allowed_ips": [str(network) for network in EVERYTHING]})


def _sign(rows: Sequence[StateChange]) -> Sign:
    if rows and all(row.before is None for row in rows):
        return "+"
    return "-" if rows and all(row.after is None for row in rows) else "~"


def file_changes(files: Sequence[FileDifference]) -> list[FileChange]:
    """The files with numbered lines."""
    return [_file_change(file) for file in files]


def _file_change(file: FileDifference) -> FileChange:
    rows = list(_rows(file.difference.split("\n")[2:]))
    marked = list(_marked(rows))
    added = sum(row.kind == "added" for row in rows)
    removed = sum(row.kind == "removed" for row in rows)
    hunk = next((row for row in rows if row.kind == "hunk"), None)
    state: Literal["new", "gone", "changed"] = "changed"
    if hunk is not None and hunk.old == 0:
        state = "new"
    elif hunk is not None and hunk.new == 0:
        state = "gone"
    return FileChange(file.path, state, added, removed, marked)


def _rows(lines: Sequence[str]) -> Iterator[DiffRow]:
    old = new = 0
    for line in lines:
        if found := _HUNK.match(line):
            old, new = int(found[1]), int(found[2])
            yield DiffRow("hunk", old, new, line)
        elif line.startswith("+"):
            yield DiffRow("added", None, new, line[1:])
            new += 1
        elif line.startswith("-"):
            yield DiffRow("removed", old, None, line[1:])
            old += 1
        else:
            yield DiffRow("same", old, new, line[1:])
            old, new = old + 1, new + 1


def _marked(rows: Sequence[DiffRow]) -> Iterator[DiffRow]:
    """Where as many lines come as go, mark in each pair what differs."""
    at = 0
    while at < len(rows):
        removed = _run(rows, at, "removed")
        added = _run(rows, at + len(removed), "added")
        if not removed or len(removed) != len(added):
            yield rows[at]
            at += 1
            continue
        pairs = [_pair(*pair) for pair in zip(removed, added, strict=True)]
        yield from (old for old, _ in pairs)
        yield from (new for _, new in pairs)
        at += len(removed) + len(added)


def _run(rows: Sequence[DiffRow], start: int, kind: str) -> list[DiffRow]:
    found = []
    for row in rows[start:]:
        if row.kind != kind:
            break
        found.append(row)
    return found


def _pair(old: DiffRow, new: DiffRow) -> tuple[DiffRow, DiffRow]:
    head = _alike(old.head, new.head)
    tail = _alike(old.head[head:][::-1], new.head[head:][::-1])
    return _split(old, head, tail), _split(new, head, tail)


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _split(row: DiffRow, head: int, tail: int) -> DiffRow:
    end = len(row.head) - tail
    return DiffRow(row.kind, row.old, row.new, row.head[:head], row.head[head:end], row.head[end:])
