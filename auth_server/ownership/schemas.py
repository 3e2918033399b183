"""What the registry says of a maintainer, what somebody pastes, and the wire shapes of proofs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from shared.protocol.registry import AuthLine

#: Longest texts that anybody honest pastes: an RSA signature of 16 384 bits, and a key with many user ids.
LONGEST_SIGNATURE = 16_384
LONGEST_PUBLIC_KEY = 131_072


class EndReason(StrEnum):
    """Why a proof ended."""

    WITHDRAWN = "withdrawn"
    #: The same maintainer was proved again.
    REPLACED = "replaced"
    #: The registry has no such maintainer any more.
    MAINTAINER_GONE = "maintainer_gone"
    #: The line that proved it is not listed any more.
    KEY_GONE = "key_gone"
    #: The maintainer is one that many people hold.
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class ProofEnded:
    """Told to every listener, inside the transaction that ends a proof."""

    account_id: UUID
    reason: EndReason


ProofEndListener = Callable[[ProofEnded], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class MaintainerFacts:
    """A maintainer as the registry has it now."""

    mntner: str
    auth: tuple[AuthLine, ...]
    asns: tuple[int, ...]
    #: The AS number that the claims speak of.
    asn: int | None
    claims: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SignedBy:
    """The registry's line whose key made a signature."""

    method: str
    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Window:
    """Since when and until when a signature may say that it was made."""

    begins: datetime
    ends: datetime


class KeyShown(BaseModel):
    """A key that can sign the challenge, and how."""

    model_config = ConfigDict(frozen=True)

    method: str
    fingerprint: str = Field(description="SHA256 of an SSH key, or the fingerprint or name of a PGP key")
    command: str = Field(description="Prints a signature, on a machine that has the key")
    export_command: str = Field(
        default="", description="Prints the public key, where it must be pasted as well"
    )
    weak: bool = Field(default=False, description="Too weak: a signature by it is refused")


class ProofBegin(BaseModel):
    """What to prove."""

    subject: str = Field(
        min_length=1,
        max_length=90,
        description="A maintainer, such as FOO-MNT, or an AS number, such as AS4242429901",
    )
    mntner: str = Field(
        default="", max_length=80, description="Which maintainer of the AS number, where it has several"
    )


class ChallengeRead(BaseModel):
    """A challenge, and how to answer it."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    mntner: str
    asn: int | None
    text: str = Field(description="What is to be signed: this one line")
    namespace: str = Field(default="", description="Namespace of SSH signatures")
    keys: list[KeyShown]
    expires_at: datetime


class ProofFinish(BaseModel):
    """A signature of the challenge."""

    signature: str = Field(
        max_length=LONGEST_SIGNATURE,
        description="Armoured: of `ssh-keygen -Y sign`, `gpg --clearsign` or `gpg --armor --detach-sign`",
    )
    public_key: str = Field(
        default="",
        max_length=LONGEST_PUBLIC_KEY,
        description="Armoured OpenPGP key, where the registry holds only its fingerprint",
    )


class ProofRead(BaseModel):
    """A proof, as its owner sees it."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    mntner: str
    method: str
    fingerprint: str
    asn: int | None
    asns: list[int]
    active: bool
    proved_at: datetime
    checked_at: datetime
