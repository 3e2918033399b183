"""How two documents differ, by the names of things and not by their places in lists."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from control_server.policy.schemas import FileDifference, StateChange

#: By the first of these a member of a list is known.
_NAMES = ("name", "interface", "prefix", "id")
_MOST = 500


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[StateChange]:
    """All differences, by path; a list whose members have names is compared by them."""
    found = [
        StateChange(path=path, before=old, after=new) for path, old, new in _walk("", before or {}, after)
    ]
    return found[:_MOST]


def file_differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[FileDifference]:
    """Unified differences of the files that differ, by path."""
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, ""), after.get(path, "")
        if old != new:
            lines = difflib.unified_diff(
                old.splitlines(), new.splitlines(), f"before/{path}", f"after/{path}", lineterm=""
            )
            found.append(FileDifference(path=path, difference="\n".join(lines)))
    return found


def _walk(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if before == after:
        return
    old, new = _named(before, beside=after), _named(after, beside=before)
    if old is None or new is None:
        yield path, before, after
        return
    for name in sorted(old.keys() | new.keys(), key=str):
        yield from _walk(f"{path}.{name}" if path else str(name), old.get(name), new.get(name))


def _named(value: Any, *, beside: Any) -> Mapping[str, Any] | None:
    """The value as a mapping; None for what is compared as a whole."""
    if isinstance(value, Mapping):
        return value
    if value == [] and isinstance(beside, list) and _named(beside, beside=None) is not None:
        return {}  # its first member comes, or its last one goes, by name like any other
    if not isinstance(value, list) or not value or not all(isinstance(member, Mapping) for member in value):
        return None
    for name in _NAMES:
        names = [member.get(name) for member in value]
        if all(isinstance(known, str) for known in names) and len(set(names)) == len(names):
            return dict(zip(map(str, names), value, strict=True))
    return None
