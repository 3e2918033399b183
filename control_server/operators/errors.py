"""Refusals of the portal's sign-in."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class SessionLinkRefused(AppError):
    """The link is unknown, used or too old. Make a new one with `routeloom control session-link`."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "session_link_refused"
    #: An attempt is audited although it is refused.
    rolls_back: ClassVar[bool] = False
