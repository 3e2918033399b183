"""Proofs of possession that accompany a request (RFC 9449, DPoP), and public keys that others bring.

A proof binds a request to a key: whoever has only the token cannot use it. What is checked here needs no
store; that a proof is used once only is the business of whoever serves the request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

PublicKey = ECKey | RSAKey | OKPKey

#: By the key's type and curve; nothing symmetric, and `none` least of all.
ALGORITHMS_OF: Mapping[str, tuple[str, ...]] = {
    "P-256": ("ES256",),
    "RSA": ("RS256", "PS256"),
    "Ed25519": ("Ed25519",),
}
ALGORITHMS = tuple(name for names in ALGORITHMS_OF.values() for name in names)
#: How far a proof's clock may be from ours, either way.
WINDOW = timedelta(seconds=60)
_CLASSES: dict[str, type[ECKey | RSAKey | OKPKey]] = {"EC": ECKey, "RSA": RSAKey, "OKP": OKPKey}
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_LEAST_RSA_BITS = 2048
_LONGEST = 8192
_LONGEST_JTI = 256
_TYPE = "dpop+jwt"
_PORTS = {"https": 443, "http": 80}


class _Registry(jws.JWSRegistry):
    """A header that carries an RSA key is longer than others."""

    max_header_length = 2048


_READER = _Registry()


class KeyRefused(ValueError):
    """The key is private, symmetric, too small, or of a kind that is not taken."""


class ProofRefused(Exception):
    """The proof does not fit the request, or is none."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A good proof: by which key, and the name under which it may be seen once."""

    thumbprint: str
    name: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Proven:
    """The request that the proof must be of."""

    method: str
    url: str
    at: datetime
    #: The access token that comes along.
    token: str | None = None


def import_public_key(jwk: object) -> PublicKey:
    """The public key of a JWK. Raises KeyRefused."""
    kind = _CLASSES.get(str(jwk.get("kty"))) if isinstance(jwk, dict) else None
    if kind is None or not isinstance(jwk, dict) or not _PRIVATE.isdisjoint(jwk):
        raise KeyRefused
    try:
        if kind is RSAKey and _bits(jwk["n"]) < _LEAST_RSA_BITS:
            raise KeyRefused
        key = kind.import_key(jwk)
        if not algorithms_of(key):
            raise KeyRefused
    except (JoseError, ValueError, TypeError, KeyError, OverflowError):
        raise KeyRefused from None
    return key


def _bits(modulus: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(modulus + "=" * (-len(modulus) % 4))).bit_length()


def algorithms_of(key: PublicKey) -> Sequence[str]:
    """What the key may have signed with; empty for a curve that is not taken."""
    names = ALGORITHMS_OF["RSA"] if isinstance(key, RSAKey) else ALGORITHMS_OF.get(key.curve_name, ())
    return [name for name in names if key.alg in {None, name}]


def header_of(text: str) -> dict[str, Any]:
    """The header of a compact JWT; nothing is verified. Raises ValueError."""
    if len(text) > _LONGEST:
        raise ValueError
    try:
        return dict(jws.extract_compact(text.encode(), registry=_READER).headers())
    except (JoseError, RecursionError):
        raise ValueError from None


def read_unverified(text: str) -> dict[str, Any]:
    """The claims of a compact JWT, whoever signed it. Raises ValueError."""
    header_of(text)
    try:
        found = json.loads(jws.extract_compact(text.encode(), registry=_READER).payload)
    except RecursionError:
        raise ValueError from None
    if not isinstance(found, dict):
        raise ValueError  # noqa: TRY004 - bad input, not a bug
    return found


def claims_by(text: str, key: PublicKey) -> dict[str, Any]:
    """The claims of a JWT that this key signed. Raises ValueError."""
    try:
        return dict(jwt.decode(text, key, registry=_Registry(algorithms=list(algorithms_of(key)))).claims)
    except (JoseError, ValueError, TypeError, RecursionError):
        raise ValueError from None


def verify_proof(text: str, proven: Proven) -> Proof:
    """The proof, where it is one of this request (RFC 9449, section 4.3). Raises ProofRefused."""
    try:
        header = header_of(text)
        key = import_public_key(header.get("jwk"))
        if header.get("typ") != _TYPE or header.get("alg") not in algorithms_of(key) or "crit" in header:
            raise ProofRefused
        claims = claims_by(text, key)
        same = claims.get("htm") == proven.method and _same_place(claims.get("htu"), proven.url)
    except ValueError:
        raise ProofRefused from None
    if not same or not _of_token(claims.get("ath"), proven.token):
        raise ProofRefused
    thumbprint = key.thumbprint()
    name = hashlib.sha256(f"{thumbprint}\n{_jti(claims)}".encode(errors="surrogatepass")).hexdigest()
    return Proof(thumbprint, name, _expiry(claims, proven.at))


def _jti(claims: Mapping[str, Any]) -> str:
    jti = claims.get("jti")
    if not isinstance(jti, str) or not 0 < len(jti) <= _LONGEST_JTI:
        raise ProofRefused
    return jti


def _expiry(claims: Mapping[str, Any], at: datetime) -> datetime:
    """When the proof is too old whoever brings it."""
    issued = claims.get("iat")
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        raise ProofRefused
    # Compared, never subtracted: JSON has whole numbers that no float can hold, and NaN is near nothing.
    window = WINDOW.total_seconds()
    if not at.timestamp() - window <= issued <= at.timestamp() + window:
        raise ProofRefused
    return at + 2 * WINDOW


def _of_token(ath: object, token: str | None) -> bool:
    return token is None or ath == token_hash(token)


def token_hash(token: str) -> str:
    """How a proof names the access token that it comes with (RFC 9449, section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()


def _same_place(htu: object, url: str) -> bool:
    """Scheme, host, port and path are the same; query and fragment do not count."""
    return isinstance(htu, str) and _place(htu) == _place(url)


def _place(url: str) -> tuple[str, str | None, int | None, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme), parts.path or "/"
