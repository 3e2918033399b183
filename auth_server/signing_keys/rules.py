"""The compact form of a signed JWT (RFC 7515, section 7.1; RFC 7518, sections 3.3 and 3.4).

Tokens are made all day, and by a library's general way most of the time goes into what is the same for all
of them: here a header is encoded once for a key and a type. Everything that is read is read by the library.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from pydantic_core import to_json

from auth_server.signing_keys.schemas import Algorithm, OpenedKey

#: More than keys and types that are used at the same time.
_HEADERS = 64
_ECDSA = ECDSA(SHA256())
#: Bits of each half of an ES256 signature, and bytes of both.
_HALF, _BOTH = 256, 64
#: From the alphabet of base64 to that of base64url (RFC 4648, section 5).
_FOR_URLS = bytes.maketrans(b"+/", b"-_")


def sign_compact(signer: OpenedKey, claims: Mapping[str, Any], typ: str) -> str:
    """The claims as a token of this type, signed by this key."""
    signed = b"%b.%b" % (
        _header(signer.algorithm, signer.kid, typ),
        _base64url(to_json(claims)),
    )
    return (b"%b.%b" % (signed, _base64url(_signature(signer, signed)))).decode()


def _signature(signer: OpenedKey, signed: bytes) -> bytes:
    private = signer.key.private_key
    if signer.algorithm == Algorithm.RS256:
        return cast("RSAPrivateKey", private).sign(signed, PKCS1v15(), SHA256())
    first, second = decode_dss_signature(cast("EllipticCurvePrivateKey", private).sign(signed, _ECDSA))
    return (first << _HALF | second).to_bytes(_BOTH, "big")


@lru_cache(maxsize=_HEADERS)
def _header(algorithm: str, kid: str, typ: str) -> bytes:
    return _base64url(to_json({"typ": typ, "alg": algorithm, "kid": kid}))


def _base64url(raw: bytes) -> bytes:
    return b2a_base64(raw, newline=False).translate(_FOR_URLS, b"=")
