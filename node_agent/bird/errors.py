"""What can go wrong with BIRD; each says what to do."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class BirdUnreachable(AppError):
    """BIRD's control socket does not answer. Start bird, and let the agent open its socket."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "bird_unreachable"


class BirdWentAway(AppError):
    """BIRD closed its control socket in the middle of an answer: the daemon stopped or died."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "bird_went_away"


class BirdTookTooLong(AppError):
    """BIRD did not answer in time."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "bird_took_too_long"


class BirdReplyTooLarge(AppError):
    """BIRD's answer is larger than what is read; ask for less."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "bird_reply_too_large"


class BirdWasReconfigured(AppError):
    """BIRD cut its answer because its configuration changed meanwhile. Ask again."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "bird_was_reconfigured"


class BirdSpokeStrangely(AppError):
    """What came from the control socket is not BIRD's protocol. Name BIRD's own socket."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "bird_spoke_strangely"


class BirdRefused(AppError):
    """BIRD refused a command."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "bird_refused"
