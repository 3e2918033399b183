"""Assertions by which a client proves that it holds its key (RFC 7523, `private_key_jwt`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.kernel.proofs import (
    KeyRefused,
    PublicKey,
    algorithms_of,
    claims_by,
    header_of,
    import_public_key,
    read_unverified,
)

TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#: An assertion is made for one request; one that lives for hours is a secret on the loose.
_LONGEST_LIFE = timedelta(minutes=10)
_LEEWAY = timedelta(seconds=60)
_LONGEST_JTI = 256


@dataclass(frozen=True, slots=True)
class Expected:
    """Whose assertion it must be, for whom, and the instant that counts."""

    client_id: str
    issuer: str
    at: datetime

    @property
    def audiences(self) -> frozenset[str]:
        """Our names: the issuer, and the token endpoint as older clients have it."""
        return frozenset({self.issuer, f"{self.issuer}/token"})


@dataclass(frozen=True, slots=True)
class Assertion:
    """A good assertion: the name under which it may be seen once."""

    name: str
    expires_at: datetime


def subject_of(text: str) -> str | None:
    """Whose the assertion says it is; nothing is verified."""
    try:
        subject = read_unverified(text).get("sub")
    except ValueError:
        return None
    return subject if isinstance(subject, str) else None


def verify_assertion(text: str, keys: Iterable[Mapping[str, Any]], expected: Expected) -> Assertion | None:
    """The assertion, where one of the client's keys signed it for us and now."""
    try:
        header = header_of(text)
        claims = next((found for key in keys if (found := _signed_by(text, header, key)) is not None), None)
    except ValueError:
        return None
    if claims is None or not _names(claims, expected):
        return None
    ends = _end(claims, expected.at)
    jti = claims.get("jti")
    if ends is None or not isinstance(jti, str) or not 0 < len(jti) <= _LONGEST_JTI:
        return None
    name = hashlib.sha256(
        f"assertion\n{expected.client_id}\n{jti}".encode(errors="surrogatepass")
    ).hexdigest()
    return Assertion(name, ends)


def _signed_by(text: str, header: Mapping[str, Any], jwk: Mapping[str, Any]) -> dict[str, Any] | None:
    key = _imported(jwk)
    fits = key is not None and header.get("kid") in (None, jwk.get("kid")) and "crit" not in header
    if key is None or not fits or header.get("alg") not in algorithms_of(key):
        return None
    try:
        return claims_by(text, key)
    except ValueError:
        return None


def _imported(jwk: Mapping[str, Any]) -> PublicKey | None:
    try:
        return import_public_key(dict(jwk))
    except KeyRefused:
        return None


def _names(claims: Mapping[str, Any], expected: Expected) -> bool:
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    ours = len(named) == 1 and isinstance(named[0], str) and named[0] in expected.audiences
    return ours and claims.get("iss") == claims.get("sub") == expected.client_id


def _end(claims: Mapping[str, Any], at: datetime) -> datetime | None:
    """When the assertion ends; None where that is past, too far off, or not said, or it has not begun."""
    times = [claims.get(name) for name in ("exp", "nbf", "iat")]
    if any(isinstance(time, bool) or not isinstance(time, int | float | None) for time in times):
        return None
    try:
        ends, *begins = (None if time is None else datetime.fromtimestamp(time, UTC) for time in times)
    except (ValueError, OverflowError, OSError):
        return None
    if ends is None or not at - _LEEWAY < ends <= at + _LONGEST_LIFE + _LEEWAY:
        return None
    begun = all(begin is None or begin <= at + _LEEWAY for begin in begins)
    return ends + _LEEWAY if begun else None
