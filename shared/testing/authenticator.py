"""An authenticator in software that can lie: about verification, counters, origins, flags, ids and keys.

It speaks the JSON forms of WebAuthn, so a test sends what a browser would send.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

EDDSA, ES256, RS256 = -8, -7, -257
_PRESENT, _VERIFIED, _ELIGIBLE, _BACKED_UP, _ATTESTED = 0x01, 0x04, 0x08, 0x10, 0x40

PrivateKey = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


def encode(data: bytes) -> str:
    """Base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """The bytes of base64url without padding."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass(slots=True)
class Credential:
    """One key pair, and what the authenticator remembers with it."""

    id: bytes
    key: PrivateKey
    algorithm: int
    user_handle: bytes
    counter: int = 0


@dataclass(frozen=True, slots=True)
class Claims:
    """What the authenticator and the browser say; an honest pair says the defaults."""

    present: bool = True
    verified: bool = True
    backup_eligible: bool = True
    backed_up: bool = True
    #: None counts on from the last use, as far as the authenticator counts.
    counter: int | None = None
    type: str | None = None
    origin: str | None = None
    challenge: str | None = None
    rp_id: str | None = None
    cross_origin: bool | None = False
    top_origin: str | None = None
    credential_id: bytes | None = None
    algorithm: int | None = None
    #: Empty leaves it out; None tells the truth.
    user_handle: bytes | None = None
    spoil_signature: bool = False
    attestation: str = "none"
    trailing: bytes = b""


HONEST = Claims()


@dataclass(slots=True)
class Authenticator:
    """Keeps credentials, and answers options in the name of a browser at `origin`."""

    origin: str
    algorithm: int = ES256
    counts: bool = False
    credentials: list[Credential] = field(default_factory=list)

    def create(self, options: dict[str, Any], claims: Claims = HONEST) -> dict[str, Any]:
        """RegistrationResponseJSON for creation options."""
        credential = Credential(
            id=claims.credential_id or secrets.token_bytes(32),
            key=_new_key(self.algorithm),
            algorithm=self.algorithm,
            user_handle=decode(options["user"]["id"]),
        )
        self.credentials.append(credential)
        client_data = self._client_data("webauthn.create", options, claims)
        attested = bytes(16) + len(credential.id).to_bytes(2, "big") + credential.id
        attested += cbor2.dumps(_cose(credential.key, claims.algorithm or credential.algorithm))
        data = self._authenticator_data(options["rp"]["id"], credential, claims, attested)
        return {
            "id": encode(credential.id),
            "rawId": encode(credential.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": encode(client_data),
                "attestationObject": encode(
                    cbor2.dumps({"fmt": claims.attestation, "attStmt": {}, "authData": data})
                ),
                "transports": ["internal", "hybrid"],
            },
        }

    def get(self, options: dict[str, Any], claims: Claims = HONEST) -> dict[str, Any]:
        """AuthenticationResponseJSON for request options, with an allowed credential or the last one."""
        allowed = {decode(item["id"]) for item in options.get("allowCredentials", [])}
        credential = next(known for known in reversed(self.credentials) if not allowed or known.id in allowed)
        if self.counts:
            credential.counter += 1
        client_data = self._client_data("webauthn.get", options, claims)
        data = self._authenticator_data(options["rpId"], credential, claims)
        signature = _sign(credential, data + hashlib.sha256(client_data).digest())
        if claims.spoil_signature:
            signature = bytes([signature[0] ^ 1]) + signature[1:]
        response = {
            "clientDataJSON": encode(client_data),
            "authenticatorData": encode(data),
            "signature": encode(signature),
        }
        handle = credential.user_handle if claims.user_handle is None else claims.user_handle
        if handle:
            response["userHandle"] = encode(handle)
        ident = encode(claims.credential_id or credential.id)
        return {
            "id": ident,
            "rawId": ident,
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": response,
        }

    def _client_data(self, kind: str, options: dict[str, Any], claims: Claims) -> bytes:
        told: dict[str, Any] = {
            "type": claims.type or kind,
            "challenge": claims.challenge or options["challenge"],
            "origin": claims.origin or self.origin,
        }
        if claims.cross_origin is not None:
            told["crossOrigin"] = claims.cross_origin
        if claims.top_origin is not None:
            told["topOrigin"] = claims.top_origin
        return json.dumps(told).encode()

    def _authenticator_data(
        self, rp_id: str, credential: Credential, claims: Claims, attested: bytes = b""
    ) -> bytes:
        flags = _PRESENT * claims.present | _VERIFIED * claims.verified
        flags |= _ELIGIBLE * claims.backup_eligible | _BACKED_UP * claims.backed_up
        flags |= _ATTESTED * bool(attested)
        counter = credential.counter if claims.counter is None else claims.counter
        digest = hashlib.sha256((claims.rp_id or rp_id).encode()).digest()
        return digest + bytes([flags]) + counter.to_bytes(4, "big") + attested + claims.trailing


def _new_key(algorithm: int) -> PrivateKey:
    if algorithm == EDDSA:
        return ed25519.Ed25519PrivateKey.generate()
    if algorithm == RS256:
        return rsa.generate_private_key(65537, 2048)
    return ec.generate_private_key(ec.SECP256R1())


def _cose(key: PrivateKey, algorithm: int) -> dict[int, Any]:
    """The public key in COSE (RFC 9053)."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return {1: 1, 3: algorithm, -1: 6, -2: key.public_key().public_bytes_raw()}
    if isinstance(key, rsa.RSAPrivateKey):
        numbers = key.public_key().public_numbers()
        return {1: 3, 3: algorithm, -1: numbers.n.to_bytes(256, "big"), -2: numbers.e.to_bytes(3, "big")}
    point = key.public_key().public_numbers()
    return {1: 2, 3: algorithm, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}


def _sign(credential: Credential, data: bytes) -> bytes:
    key = credential.key
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(data)
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, padding.PKCS1v15(), hashes.SHA256())
    return key.sign(data, ec.ECDSA(hashes.SHA256()))
