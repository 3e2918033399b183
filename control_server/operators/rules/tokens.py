"""Which JSON Web Tokens of the sign-in service are good, and for what (RFC 7519, 8725, 9068).

The algorithm is the key's, never the token's word alone; a header that brings its own key is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey
from joserfc.jws import JWSRegistry, extract_compact

from control_server.operators.errors import LogoutTokenRefused, TokenNotGood
from control_server.operators.schemas import LogoutNotice
from shared.kernel.principal import Scope

ALGORITHMS = ("ES256", "RS256")
LEEWAY = timedelta(seconds=30)
#: A logout token is sent when it is made; the sender tries again for minutes, not for days.
LOGOUT_WINDOW = timedelta(minutes=5)
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_HEADER = frozenset({"alg", "kid", "typ"})
_ID_TOKEN, _ACCESS_TOKEN, _LOGOUT_TOKEN = "jwt", "at+jwt", "logout+jwt"
_LONGEST = 8192


@dataclass(frozen=True, slots=True)
class Expected:
    """Who must have made the token, for whom, and the instant that counts."""

    issuer: str
    audience: str
    at: datetime


def kid_of(text: str) -> str | None:
    """The id of the key that the token says it was signed with; nothing is verified."""
    kid = _header(text).get("kid")
    return kid if isinstance(kid, str) else None


def verify_id_token(text: str, keys: KeySet, expected: Expected, nonce: str) -> dict[str, Any]:
    """Claims of an ID token of this very sign-in. Raises TokenNotGood."""
    claims = _verify(text, keys, expected, _ID_TOKEN)
    azp = claims.get("azp", expected.audience)
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("nonce") != nonce or azp != expected.audience or (several and "azp" not in claims):
        raise TokenNotGood
    return claims


def verify_access_token(text: str, keys: KeySet, expected: Expected) -> dict[str, Any]:
    """Claims of an access token for this API (RFC 9068, section 4). Raises TokenNotGood."""
    claims = _verify(text, keys, expected, _ACCESS_TOKEN)
    if not all(isinstance(claims.get(name), str) for name in ("client_id", "jti")):
        raise TokenNotGood
    return claims


def verify_logout_token(text: str, keys: KeySet, expected: Expected) -> LogoutNotice:
    """What a logout token asks for (Back-Channel Logout, section 2.6). Raises LogoutTokenRefused."""
    try:
        claims = _verify(text, keys, expected, _LOGOUT_TOKEN, needs_sub=False)
        issued = datetime.fromtimestamp(claims["iat"], UTC)
    except (TokenNotGood, ValueError, OverflowError):
        raise LogoutTokenRefused from None
    sub, sid, jti, events = (claims.get(name) for name in ("sub", "sid", "jti", "events"))
    named = [value for value in (sub, sid) if value is not None]
    if not named or not all(isinstance(value, str) and value for value in (*named, jti)):
        raise LogoutTokenRefused
    if not isinstance(events, dict) or not isinstance(events.get(_LOGOUT_EVENT), dict) or "nonce" in claims:
        raise LogoutTokenRefused
    if abs(expected.at - issued) > LOGOUT_WINDOW:
        raise LogoutTokenRefused
    return LogoutNotice(jti=str(jti), sub=sub, sid=sid, expires_at=issued + 2 * LOGOUT_WINDOW)


def scopes_of(text: object) -> frozenset[Scope]:
    """The scopes of this API in a `scope` claim; those of others say nothing here."""
    known = {scope.value for scope in Scope}
    words = text.split() if isinstance(text, str) else []
    return frozenset(Scope(word) for word in words if word in known)


def _header(text: str) -> dict[str, Any]:
    if len(text) > _LONGEST:
        raise TokenNotGood
    try:
        return dict(extract_compact(text.encode()).headers())
    except (JoseError, ValueError):
        raise TokenNotGood from None


def _key_for(header: dict[str, Any], keys: KeySet, typ: str) -> ECKey | RSAKey:
    said = str(header.get("typ", _ID_TOKEN)).lower().removeprefix("application/")
    kid = header.get("kid")
    if said != typ or header.get("alg") not in ALGORITHMS or not set(header) <= _HEADER:
        raise TokenNotGood
    for key in keys.keys:
        if isinstance(kid, str) and key.kid == kid and isinstance(key, ECKey | RSAKey):
            return key
    raise TokenNotGood


def _verify(
    text: str, keys: KeySet, expected: Expected, typ: str, *, needs_sub: bool = True
) -> dict[str, Any]:
    header = _header(text)
    key = _key_for(header, keys, typ)
    algorithm = key.alg or ("ES256" if isinstance(key, ECKey) else "RS256")
    if header["alg"] != algorithm:
        raise TokenNotGood
    claims = jwt.JWTClaimsRegistry(
        now=int(expected.at.timestamp()),
        leeway=int(LEEWAY.total_seconds()),
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "value": expected.audience},
        exp={"essential": True},
        iat={"essential": True},
        sub={"essential": needs_sub},
    )
    try:
        token = jwt.decode(text, key, [algorithm], JWSRegistry(algorithms=[algorithm]))
        claims.validate(token.claims)
    except (JoseError, ValueError, TypeError):
        raise TokenNotGood from None
    return dict(token.claims)
