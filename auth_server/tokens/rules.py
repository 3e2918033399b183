"""Decisions about codes, verifiers, scopes and claims."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from auth_server.clients.schemas import OpenIdScope
from auth_server.tokens.schemas import CodePayload, TokenRequest
from shared.kernel.principal import SCOPES_OF_ROLE, Role, Scope
from shared.kernel.secrets import BearerSecret, mint

CODE_PREFIX = "rlc"
REFRESH_PREFIX = "rlr"
#: The class of a sign-in that cannot be relayed by a false site.
PHISHING_RESISTANT = "phr"
#: So many wrong verifiers burn a code.
MOST_FAILURES = 5

#: A nonce is good for one to two of these.
_NONCE_PERIOD = timedelta(minutes=2)

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
_S256_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_NOT_DESCRIBABLE = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")
_OF_THE_API = frozenset(scope.value for scope in Scope)
_ALLOWED = {role: frozenset(scope.value for scope in scopes) for role, scopes in SCOPES_OF_ROLE.items()}


class Person(Protocol):
    """What claims tell of an account."""

    @property
    def id(self) -> UUID:
        """Becomes `sub`."""

    @property
    def name(self) -> str:
        """The login name."""

    @property
    def display_name(self) -> str:
        """The name as people write it."""

    @property
    def role(self) -> str:
        """What the person may do."""


def mint_code(tag: str) -> BearerSecret:
    """A fresh code whose id begins with the tag of the store that will keep it."""
    secret = mint(CODE_PREFIX)
    start = len(CODE_PREFIX) + 1
    text = secret.text[:start] + tag + secret.text[start + 1 :]
    return BearerSecret(id=tag + secret.id[1:], text=text)


def tag_of(code: str) -> str:
    """The tag of the store that keeps this code."""
    start = len(CODE_PREFIX) + 1
    return code[start : start + 1]


def is_challenge(text: str) -> bool:
    """Whether it is a SHA-256 in base64url without padding, as S256 makes it (RFC 7636, section 4.2)."""
    return bool(_S256_CHALLENGE.fullmatch(text))


def verifies(verifier: str, challenge: str) -> bool:
    """Whether the verifier is the one whose hash is the challenge (RFC 7636, section 4.6)."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    return hmac.compare_digest(_base64url(hashlib.sha256(verifier.encode()).digest()), challenge)


def is_at_address(payload: CodePayload, named: str | None) -> bool:
    """Whether the address is that of the authorization request, if it was named there (RFC 6749, 4.1.3)."""
    absent_on_both_sides = named is None and not payload.redirect_uri_named
    return named == payload.redirect_uri or absent_on_both_sides


def is_plain(payload: CodePayload, client_id: str, asked: TokenRequest, at: datetime) -> bool:
    """Whether a code that is not spent may be so by this request, with nothing to refuse about either."""
    form = asked.form
    return (
        payload.client_id == client_id
        and is_at_address(payload, form.get("redirect_uri"))
        and payload.expires_at > at
        and payload.key_thumbprint in {None, asked.key_thumbprint}
        and verifies(form.get("code_verifier") or "", payload.code_challenge)
    )


def at_hash(access_token: str) -> str:
    """The left half of the token's SHA-256 (OpenID Connect Core, section 3.1.3.6)."""
    return _base64url(hashlib.sha256(access_token.encode()).digest()[:16])


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def scopes_for(role: Role, scopes: Iterable[str]) -> tuple[str, ...]:
    """Those of the scopes that somebody of this role can give away; sign-in scopes are everybody's."""
    allowed = _ALLOWED[role]
    return tuple(scope for scope in scopes if scope not in _OF_THE_API or scope in allowed)


def service_scopes(role: Role, scopes: Iterable[str]) -> tuple[str, ...]:
    """What a client may do on its own: scopes of the API only, for there is nobody to tell of."""
    return scopes_for(role, (scope for scope in scopes if scope in _OF_THE_API))


def reaches_the_api(scopes: Iterable[str]) -> bool:
    """Whether one of the scopes is one of the API."""
    return not _OF_THE_API.isdisjoint(scopes)


def claims_of(account: Person, scopes: Iterable[str]) -> dict[str, Any]:
    """What the scopes tell of the person; `sub` always. Accounts have no mail address."""
    claims: dict[str, Any] = {"sub": str(account.id)}
    if OpenIdScope.PROFILE in set(scopes):
        claims["name"] = account.display_name
        claims["preferred_username"] = account.name
        claims["role"] = account.role
    return claims


def acr_of(amr: Iterable[str]) -> str | None:
    """The class of the sign-in: `phr` for a passkey (OpenID EAP ACR Values); a recovery code has none."""
    return PHISHING_RESISTANT if "pop" in set(amr) else None


def key_of(claims: Mapping[str, Any]) -> str | None:
    """The thumbprint of the key that an access token is bound to (RFC 9449, section 6.1)."""
    confirmation = claims.get("cnf")
    return str(confirmation["jkt"]) if confirmation else None


def nonce_of(key: bytes, at: datetime) -> str:
    """What proofs of keys are to carry at this time (RFC 9449, section 8); secret until given."""
    return _nonce_of_period(key, int(at.timestamp() // _NONCE_PERIOD.total_seconds()))


def is_recent_nonce(nonce: object, key: bytes, at: datetime) -> bool:
    """Whether this is the nonce of now or of the period before."""
    period = int(at.timestamp() // _NONCE_PERIOD.total_seconds())
    recent = (_nonce_of_period(key, period), _nonce_of_period(key, period - 1))
    return (
        isinstance(nonce, str) and nonce.isascii() and any(hmac.compare_digest(nonce, one) for one in recent)
    )


def _nonce_of_period(key: bytes, period: int) -> str:
    return _base64url(hmac.digest(key, f"dpop-nonce\n{period}".encode(), "sha256"))


def describable(text: str) -> str:
    """The text in the characters that an error description may have (RFC 6749, section 5.2)."""
    return _NOT_DESCRIBABLE.sub("?", text)
