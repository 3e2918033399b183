"""Proofs of possession: whatever somebody sends is a good proof or is refused."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey

from shared.kernel.proofs import (
    KeyRefused,
    ProofRefused,
    Proven,
    import_public_key,
    read_unverified,
    token_hash,
    verify_proof,
)

AT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
PROVEN = Proven("POST", "https://loom.example/auth/token", AT)
KEY = ECKey.generate_key("P-256")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


class TestVerifyProof:
    @given(st.text(max_size=200))
    def test_a_text_is_no_proof(self, text: str) -> None:
        with pytest.raises(ProofRefused):
            verify_proof(text, PROVEN)

    @given(JSON, JSON, st.text(max_size=90))
    def test_any_header_claims_and_signature(self, jwk: Any, claims: Any, signature: str) -> None:
        header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": jwk}
        with pytest.raises(ProofRefused):
            verify_proof(f"{part(header)}.{part(claims)}.{part(signature)}", PROVEN)


class TestImportPublicKey:
    @given(JSON)
    def test_anything_else_is_refused(self, jwk: Any) -> None:
        with pytest.raises(KeyRefused):
            import_public_key(jwk)

    def test_a_public_key_is_taken_and_its_private_half_is_not(self) -> None:
        assert import_public_key(KEY.as_dict(private=False)).thumbprint() == KEY.thumbprint()
        with pytest.raises(KeyRefused):
            import_public_key(KEY.as_dict(private=True))


class TestReadUnverified:
    @given(st.text(max_size=100))
    def test_what_is_no_token_is_a_value_error(self, text: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - the promise
            read_unverified(text)


class TestTokenHash:
    def test_it_is_that_of_the_example_in_rfc_9449(self) -> None:
        token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
        assert token_hash(token) == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"
