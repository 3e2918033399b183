"""Refusals about signing keys."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind, NotFound, Unavailable


class SealBroken(Unavailable):
    """The signing keys were sealed with another key file. Put the file back that belongs to this database."""

    code = "signing_keys_sealed"


class SigningKeyNotFound(NotFound):
    """There is no such signing key."""

    code = "signing_key_not_found"


class NextKeyTooYoung(AppError):
    """Not everybody has read the next key yet: it must be published for ten minutes. Wait, or use --now."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "signing_key_too_young"
