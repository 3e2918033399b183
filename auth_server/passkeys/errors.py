"""Refusals about passkeys and recovery codes."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind, NotFound


class CeremonyGone(AppError):
    """The challenge is unknown, used or too old. Start again."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "ceremony_gone"


class PasskeyRefused(AppError):
    """The passkey was not accepted."""

    kind: ClassVar[Kind] = Kind.UNAUTHENTICATED
    code: ClassVar[str] = "passkey_refused"
    #: A failed sign-in is audited although it is refused.
    rolls_back: ClassVar[bool] = False


class RegistrationRefused(AppError):
    """The passkey cannot be registered here."""

    code: ClassVar[str] = "passkey_registration_refused"
    #: An attempt is audited although it is refused.
    rolls_back: ClassVar[bool] = False


class PasskeyKnown(AppError):
    """A passkey with this id is registered already."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "passkey_known"


class PasskeyNotFound(NotFound):
    """You have no such passkey."""

    code = "passkey_not_found"


class LastPasskey(AppError):
    """Without this passkey you could not sign in any more. Add another one first."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "last_passkey"


class TooManyPasskeys(AppError):
    """You have as many passkeys as an account can hold. Remove one first."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "too_many_passkeys"


class RecoveryRefused(AppError):
    """The name or the recovery code is wrong, or the code was used."""

    kind: ClassVar[Kind] = Kind.UNAUTHENTICATED
    code: ClassVar[str] = "recovery_refused"
    #: A failed sign-in is audited although it is refused.
    rolls_back: ClassVar[bool] = False


class HashingBusy(AppError):
    """Too many recovery codes are being checked. Try again."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "hashing_busy"
