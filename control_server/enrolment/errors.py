"""Refusals of enrolment."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Forbidden, Kind, NotFound, Unauthenticated


class EnrolmentTokenRefused(Unauthenticated):
    """The enrolment token is unknown, used, revoked or expired. Ask an administrator for a new one."""

    code: ClassVar[str] = "enrolment_token_refused"


class ChallengeRefused(Unauthenticated):
    """The challenge is unknown, used or too old. Ask for a new one and sign that."""

    code: ClassVar[str] = "enrolment_challenge_refused"


class ProofRefused(Forbidden):
    """The signature does not prove the identity key. Nothing was enrolled."""

    code: ClassVar[str] = "enrolment_proof_refused"
    #: The challenge is spent by a failed proof, too.
    rolls_back: ClassVar[bool] = False


class AnotherIdentity(AppError):
    """The node is enrolled with another identity key."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "enrolment_other_identity"


class KeyInUse(AppError):
    """The identity key belongs to another node. Give each node a state directory of its own."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "enrolment_key_in_use"


class TooManyChallenges(AppError):
    """Too many enrolments are under way."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "enrolment_busy"


class RegistrationNotFound(NotFound):
    """No registration has this id."""

    code: ClassVar[str] = "registration_not_found"


class RegistrationDecided(AppError):
    """Somebody has decided on this registration already."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "registration_decided"


class EnrolmentTokenNotFound(NotFound):
    """No enrolment token has this id."""

    code: ClassVar[str] = "enrolment_token_not_found"
