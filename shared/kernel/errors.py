"""Refusals: one base class, one kind each, translated once per transport."""

from __future__ import annotations

import inspect
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta


class Kind(StrEnum):
    """What sort of refusal this is; a transport maps it to its own words."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    MISSING = "missing"
    GONE = "gone"
    CONFLICT = "conflict"
    #: The request must say which state it was made for (RFC 6585, section 3).
    PRECONDITION = "precondition"
    TOO_LARGE = "too_large"
    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"


class AppError(Exception):
    """The request cannot be carried out."""

    kind: ClassVar[Kind] = Kind.INVALID
    code: ClassVar[str] = "invalid"
    #: False for a refusal that must itself be stored, such as a replayed code.
    rolls_back: ClassVar[bool] = True

    def __init__(
        self,
        detail: str | None = None,
        *,
        fields: Sequence[FieldError] = (),
        retry_after: timedelta | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        """Refuse with `detail`, by default the first paragraph of the class's docstring."""
        self.detail = detail or inspect.cleandoc(type(self).__doc__ or "").split("\n\n", 1)[0]
        self.fields = tuple(fields)
        self.retry_after = retry_after
        #: What else the caller needs to go on, such as the present version of what was changed meanwhile.
        self.members = dict(members or {})
        super().__init__(self.detail)


class FieldError:
    """One input that was refused: where it stands, a stable code, and the remedy."""

    __slots__ = ("about", "code", "field", "message")

    def __init__(self, field: str, code: str, message: str, about: str = "") -> None:
        """Name the `field` as the client sent it, dots between levels.

        `about` is the one of several values in it that is meant; never one that is a secret.
        """
        self.field = field
        self.code = code
        self.message = message
        self.about = about

    def __repr__(self) -> str:
        """Show the field and the code, never the value."""
        return f"FieldError({self.field!r}, {self.code!r})"


class InvalidInput(AppError):
    """Some of the fields are not acceptable."""

    kind = Kind.INVALID
    code = "invalid_input"


class Unauthenticated(AppError):
    """Sign in, or send a valid token."""

    kind = Kind.UNAUTHENTICATED
    code = "unauthenticated"


class Forbidden(AppError):
    """You are signed in, but not allowed to do this."""

    kind = Kind.FORBIDDEN
    code = "forbidden"


class NotFound(AppError):
    """There is nothing here."""

    kind = Kind.MISSING
    code = "not_found"


class Unavailable(AppError):
    """A part of the system that this needs is not available. Try again."""

    kind = Kind.UNAVAILABLE
    code = "unavailable"
