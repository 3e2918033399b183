"""Where the page of flaps explains what."""

from __future__ import annotations

from urllib.parse import urlencode

from control_server.flaps.schemas import Subject, SubjectKind


def address_of(subject: Subject | None, above: int | None = None) -> str:
    """The page with this subject explained, and the sessions that are listed on it."""
    asked: dict[str, str] = {}
    if subject is not None:
        node_id, kind, name = subject
        asked["node"] = node_id
        if kind is not SubjectKind.NODE:
            asked[kind.value] = name
    if above is not None:
        asked["above"] = str(above)
    return f"/flaps?{urlencode(asked)}" if asked else "/flaps"
