"""What we sign in the compact form, an independent reader verifies."""

from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import extract_compact

from auth_server.signing_keys.rules import sign_compact
from auth_server.signing_keys.schemas import OpenedKey

CLAIMS: dict[str, Any] = {"iss": "https://loom.example/auth", "aud": ["a", "b"], "name": "Ada 艾达", "exp": 1}
KEYS: list[tuple[str, ECKey | RSAKey]] = [
    ("ES256", ECKey.generate_key("P-256", private=True)),
    ("RS256", RSAKey.generate_key(2048, private=True)),
]


@pytest.mark.parametrize(("algorithm", "key"), KEYS, ids=["ES256", "RS256"])
class TestSignCompact:
    def test_the_claims_come_out_as_they_went_in(self, algorithm: str, key: ECKey | RSAKey) -> None:
        token = sign_compact(OpenedKey("first", algorithm, key), CLAIMS, "at+jwt")
        read = jwt.decode(token, key, algorithms=[algorithm])
        assert read.claims == CLAIMS
        assert read.header == {"typ": "at+jwt", "alg": algorithm, "kid": "first"}

    def test_short_halves_of_a_signature_keep_their_length(self, algorithm: str, key: ECKey | RSAKey) -> None:
        """About one ES256 signature in 128 has a half that begins with a zero."""
        signer = OpenedKey("first", algorithm, key)
        lengths = set()
        for number in range(400):
            token = sign_compact(signer, {"jti": number}, "JWT")
            lengths.add(len(token.rpartition(".")[2]))
            assert jwt.decode(token, key, algorithms=[algorithm]).claims == {"jti": number}
        assert len(lengths) == 1


def test_the_header_is_of_the_key_and_the_type_that_are_meant() -> None:
    algorithm, key = KEYS[0]
    for kid in ("first", "second"):
        for typ in ("at+jwt", "JWT"):
            token = sign_compact(OpenedKey(kid, algorithm, key), {}, typ)
            header = extract_compact(token.encode()).headers()
            assert (header["kid"], header["typ"]) == (kid, typ)
