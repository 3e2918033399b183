"""What the parts of sign-in tell each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from shared.kernel.principal import Principal, Role

_Said = Annotated[str, StringConstraints(max_length=4000)]


class Purpose(StrEnum):
    """Why a browser was sent to the sign-in service."""

    SIGN_IN = "sign_in"
    STEP_UP = "step_up"


class Method(StrEnum):
    """How a portal session began."""

    LINK = "link"
    OIDC = "oidc"


@dataclass(frozen=True, slots=True)
class Browser:
    """What is noted of the browser of a session."""

    user_agent: str
    address: str


@dataclass(frozen=True, slots=True)
class Login:
    """A sign-in on its way; good once, in the browser that began it."""

    browser: str
    purpose: Purpose
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    next_page: str
    session_id: str | None
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Callback:
    """What the sign-in service sent the browser back with."""

    state: _Said = ""
    code: _Said = field(default="", repr=False)
    error: _Said = ""
    #: RFC 9207: who sent it.
    iss: _Said = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who signed in, as the verified ID token and UserInfo say."""

    sub: str
    name: str
    role: Role
    auth_time: datetime
    sid: str | None
    grant_id: str | None
    id_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignedInBrowser:
    """A portal session that is good."""

    session_id: str
    principal: Principal
    method: Method
    sub: str | None
    stepped_up_at: datetime | None
    #: The last use is so long ago that it should be written.
    use_is_due: bool


@dataclass(frozen=True, slots=True)
class EndedSession:
    """What is left of a session that a person ended, to sign out at the sign-in service too."""

    id_token: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class LogoutNotice:
    """A verified logout token: which sessions end."""

    jti: str
    sub: str | None
    sid: str | None
    expires_at: datetime
