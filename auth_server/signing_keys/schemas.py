"""Algorithms and stages of signing keys."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from joserfc.jwk import ECKey, RSAKey
from pydantic import BaseModel, ConfigDict


class Algorithm(StrEnum):
    """What we sign with (RFC 7518); nothing else is ever accepted, `none` least of all."""

    ES256 = "ES256"
    RS256 = "RS256"


class Stage(StrEnum):
    """Where a key is in its life."""

    #: Published, so that verifiers know it before it is used.
    NEXT = "next"
    #: Signs.
    CURRENT = "current"
    #: Signs no more, verifies still.
    PREVIOUS = "previous"


class OpenedKey(NamedTuple):
    """A key that signs or verifies: its id, its algorithm, and the key itself."""

    kid: str
    algorithm: str
    key: ECKey | RSAKey


class SigningKeyRead(BaseModel):
    """A key as administrators see it; private halves are shown to nobody."""

    model_config = ConfigDict(from_attributes=True)

    kid: str
    algorithm: Algorithm
    stage: Stage
    created_at: datetime
    retired_at: datetime | None


class RotationWanted(BaseModel):
    """How keys are to be rotated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: Also where the next key was published only minutes ago, so that not everybody has read it.
    insist: bool = False
