"""Wire shapes of ceremonies, passkeys and recovery codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from auth_server.accounts.schemas import AccountName, DisplayName, NewAccount, printable_or_empty
from auth_server.sessions.rules import LONGEST_NEXT

#: 1023 bytes is the longest credential id (WebAuthn, registering a new credential); in base64url.
LONGEST_CREDENTIAL_ID = 1023


class CeremonyKind(StrEnum):
    """What a challenge was given out for; it is good for nothing else."""

    SIGN_IN = "sign_in"
    STEP_UP = "step_up"
    INVITED = "invited"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Ceremony:
    """A challenge, for whom and what it was made, and until when it is good."""

    kind: CeremonyKind
    #: Hash of what identifies the browser it was given to.
    browser: str
    challenge: bytes
    expires_at: datetime
    #: What the answer will be about: names and ids, no secrets.
    subject: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """Who we are to an authenticator; both values come from the settings, never from a request."""

    id: str
    origin: str
    name: str


@dataclass(frozen=True, slots=True)
class NewCredential:
    """What a checked registration brought."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    backup_eligible: bool
    backed_up: bool
    aaguid: str


@dataclass(frozen=True, slots=True)
class KnownCredential:
    """What we have of a credential, to check an assertion against."""

    public_key: bytes
    owner_handle: bytes
    backup_eligible: bool


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a checked assertion says of its authenticator."""

    sign_count: int
    backed_up: bool


def _whole(value: str) -> str:
    """Refuse a length that no bytes have; what passes here can be decoded by anybody."""
    if len(value) % 4 == 1:
        message = "is no base64url"
        raise ValueError(message)
    return value


_ALPHABET = r"^[A-Za-z0-9_-]*$"
_Id = Annotated[
    str,
    Field(pattern=_ALPHABET, min_length=1, max_length=LONGEST_CREDENTIAL_ID * 4 // 3 + 1),
    AfterValidator(_whole),
]
_Bytes = Annotated[str, Field(pattern=_ALPHABET, min_length=1, max_length=16_384), AfterValidator(_whole)]
_UserHandle = Annotated[str, Field(pattern=_ALPHABET, max_length=128), AfterValidator(_whole)]


class RegistrationResponse(BaseModel):
    """`response` of RegistrationResponseJSON; what we do not read is dropped."""

    clientDataJSON: _Bytes  # noqa: N815 - the standard's name
    attestationObject: _Bytes  # noqa: N815 - the standard's name
    transports: list[Annotated[str, Field(max_length=16)]] = Field(default=[], max_length=8)


class RegistrationCredential(BaseModel):
    """RegistrationResponseJSON of WebAuthn."""

    id: _Id
    rawId: _Id  # noqa: N815 - the standard's name
    type: Literal["public-key"]
    response: RegistrationResponse


class AssertionResponse(BaseModel):
    """`response` of AuthenticationResponseJSON; what we do not read is dropped."""

    clientDataJSON: _Bytes  # noqa: N815 - the standard's name
    authenticatorData: _Bytes  # noqa: N815 - the standard's name
    signature: _Bytes
    userHandle: _UserHandle | None = None  # noqa: N815 - the standard's name


class AssertionCredential(BaseModel):
    """AuthenticationResponseJSON of WebAuthn."""

    id: _Id
    rawId: _Id  # noqa: N815 - the standard's name
    type: Literal["public-key"]
    response: AssertionResponse


Handle = Annotated[str, Field(pattern=r"^[a-z]+-[0-9a-f-]{36}$", max_length=48)]
Next = Annotated[str, Field(max_length=LONGEST_NEXT)]
CaptchaToken = Annotated[str, Field(max_length=4096, description="Where a captcha is due; good once")]
PasskeyName = Annotated[str, Field(max_length=64), AfterValidator(printable_or_empty)]
InvitationSecret = Annotated[str, Field(pattern=r"^rli_[A-Za-z0-9_-]+$", max_length=80)]


class SignInBegin(BaseModel):
    """The name is a help for the person; without it any passkey of this site may answer."""

    name: str = Field(default="", max_length=64)


class CeremonyOptions(BaseModel):
    """What goes to `navigator.credentials`, and the handle to answer with."""

    ceremony: str
    options: dict[str, Any] = Field(description="Options of WebAuthn in their JSON form")


class SignInFinish(BaseModel):
    """The answer to a sign-in or step-up."""

    ceremony: Handle
    credential: AssertionCredential
    next: Next = ""
    captcha: CaptchaToken = ""


class InvitedBegin(NewAccount):
    """Who accepts which invitation."""

    name: AccountName
    display_name: DisplayName
    invitation: InvitationSecret


class RegistrationFinish(BaseModel):
    """The answer to a registration."""

    ceremony: Handle
    credential: RegistrationCredential
    name: PasskeyName = Field(default="", description="What the person calls this passkey")


class InvitedFinish(RegistrationFinish):
    """The answer to a registration by invitation."""

    invitation: InvitationSecret


class RecoveryAttempt(BaseModel):
    """A recovery code instead of a passkey."""

    name: str = Field(max_length=64)
    code: str = Field(max_length=64)
    next: Next = ""
    captcha: CaptchaToken = ""


class SignInDone(BaseModel):
    """Signed in; the cookie is set."""

    next: str = Field(description="Path on this site to go on to")


class PasskeyRead(BaseModel):
    """One passkey of the person who asks."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    backed_up: bool
    transports: list[str]
    created_at: datetime
    last_used_at: datetime | None


class PasskeyRename(BaseModel):
    """Another name for a passkey."""

    name: DisplayName


class RecoveryCodesLeft(BaseModel):
    """How many codes are good."""

    left: int


class RecoveryCodesMade(BaseModel):
    """Fresh codes; earlier ones are worthless, and these are never shown again."""

    codes: list[str]
