"""Keys of clients: what they sign assertions and proofs with."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, OKPKey, RSAKey

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def sign(header: dict[str, Any], claims: dict[str, Any] | bytes, key: Any) -> str:
    """A compact JWT; neither header nor claims are looked at."""
    raw = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    parts = [_encoded(json.dumps(header).encode()), _encoded(raw)]
    algorithm = jws.JWSRegistry(algorithms=[header["alg"]]).get_alg(header["alg"])
    return ".".join([*parts, _encoded(algorithm.sign(".".join(parts).encode(), key))])


def signed_by_text(header: dict[str, Any], claims: dict[str, Any], secret: bytes) -> str:
    """An HS256 token whose secret is any text, a public key included."""
    parts = [_encoded(json.dumps(part).encode()) for part in (header, claims)]
    mac = hmac.new(secret, ".".join(parts).encode(), hashlib.sha256).digest()
    return ".".join([*parts, _encoded(mac)])


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Signing:
    """A client that proves itself by assertions."""

    client_id: str
    key: Any = field(default_factory=lambda: ECKey.generate_key("P-256"))
    alg: str = "ES256"

    @property
    def jwks(self) -> list[dict[str, Any]]:
        return [{**self.key.as_dict(private=False), "kid": "k1"}]

    def token(self, audience: Any, at: datetime, **changes: Any) -> str:
        claims = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": audience,
            "jti": secrets.token_hex(8),
            "iat": int(at.timestamp()),
            "exp": int(at.timestamp()) + 60,
            **changes,
        }
        kept = {name: value for name, value in claims.items() if value is not None}
        return sign({"alg": self.alg, "kid": "k1"}, kept, self.key)

    def assertion(self, audience: Any, at: datetime, **changes: Any) -> dict[str, str]:
        """Form parameters by which the client says who it is."""
        return as_form(self.token(audience, at, **changes))


def as_form(token: str) -> dict[str, str]:
    return {"client_assertion": token, "client_assertion_type": ASSERTION_TYPE}


@dataclass
class Holder:
    """Somebody who proves a key with every request (RFC 9449)."""

    key: Any = field(default_factory=lambda: ECKey.generate_key("P-256"))
    alg: str = "ES256"

    @property
    def thumbprint(self) -> str:
        return str(self.key.thumbprint())

    def proof(
        self, method: str, url: str, at: datetime, token: str | None = None, **changes: Any
    ) -> dict[str, str]:
        """The header of one request; `changes` are claims, those with `header_` go into its head."""
        ath = _encoded(hashlib.sha256((token or "").encode()).digest())
        claims = {
            "htm": method,
            "htu": url,
            "iat": int(at.timestamp()),
            "jti": secrets.token_hex(8),
            **({"ath": ath} if token else {}),
        }
        header = {"typ": "dpop+jwt", "alg": self.alg, "jwk": self.key.as_dict(private=False)}
        for name, value in changes.items():
            place = header if name.startswith("header_") else claims
            place[name.removeprefix("header_")] = value
        kept = {name: value for name, value in claims.items() if value is not None}
        return {"DPoP": sign(header, kept, self.key)}


@cache
def kinds() -> list[Any]:
    """A key of every kind that is taken, with what it signs by."""
    rsa = RSAKey.generate_key(2048)
    return [
        (ECKey.generate_key("P-256"), "ES256"),
        (rsa, "RS256"),
        (rsa, "PS256"),
        (OKPKey.generate_key("Ed25519"), "Ed25519"),
    ]
