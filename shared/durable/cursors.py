"""Event ids and what the distance between two of them says."""

from __future__ import annotations

import re

from shared.durable.errors import IdentifierRefusedError
from shared.durable.records import EventPage, StoredEvent

_CURSOR = re.compile(r"([0-9]{1,20})-([0-9]{1,20})")


def dense_id(sequence: int) -> str:
    """The id of the n-th event of a run, counted from 1."""
    return f"0-{sequence}"


def split_id(event_id: str) -> tuple[int, int]:
    """Both numbers of an id; the first is 0 in a dense stream and a time in an older one."""
    match = _CURSOR.fullmatch(event_id)
    if match is None:
        raise IdentifierRefusedError(
            "An event cursor is two numbers with a hyphen between them, such as 0-17."
        )
    return int(match[1]), int(match[2])


def page_of(events: tuple[StoredEvent, ...], after: str | None) -> EventPage:
    """The page of these events; the gap before the first one is exact in a dense stream."""
    era, position = split_id(after) if after else (0, 0)
    first_era, first = split_id(events[0].event_id)
    if era == 0 and first_era > 0 and after:
        return EventPage((), cursor=None, reset=True)
    gap = first - position - 1 if era == first_era == 0 else 0
    return EventPage(events, cursor=events[-1].event_id, gap=gap)


def empty_page(after: str | None, tail: str | None) -> EventPage:
    """The page when nothing follows the cursor; `tail` is the last id that the stream ever gave."""
    cursor = split_id(after) if after else (0, 0)
    last = split_id(tail) if tail else (0, 0)
    if last < cursor:
        return EventPage((), cursor=None, reset=True)
    if last > cursor and last[0] == cursor[0] == 0:
        return EventPage((), cursor=tail, gap=last[1] - cursor[1])
    return EventPage((), cursor=after)
