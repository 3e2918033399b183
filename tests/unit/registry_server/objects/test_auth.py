import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.auth import UNKNOWN, is_commented_out, parse_auth

FINGERPRINT = "0123456789ABCDEF0123456789ABCDEF01234567"


class TestParseAuth:
    @pytest.mark.parametrize(
        ("value", "method", "rest"),
        [
            (f"pgp-fingerprint {FINGERPRINT.lower()}", "pgp-fingerprint", FINGERPRINT),
            ("ssh-ed25519 AAAAC3 foo@bar.example", "ssh-ed25519", "AAAAC3 foo@bar.example"),
            ("ssh-rsa AAAAB3", "ssh-rsa", "AAAAB3"),
            (
                "sk-ssh-ed25519@openssh.com AAAA a key of ours",
                "sk-ssh-ed25519@openssh.com",
                "AAAA a key of ours",
            ),
            ("PGPKEY-0123ABCD", "pgpkey", "PGPKEY-0123ABCD"),
        ],
    )
    def test_reads_the_methods_that_can_be_verified(self, value: str, method: str, rest: str) -> None:
        assert parse_auth(value) == (method, rest, value)

    @pytest.mark.parametrize(
        "value",
        [
            "MTN-OLD",
            "ssh-ed5519 AAAA",
            "ssh-ed25519",
            f"pgp-fingerprint: {FINGERPRINT}",
            "pgp-fingerprint 0123",
            f"gpg-fingerprint {FINGERPRINT}",
            FINGERPRINT,
            "#ssh-ed25519 AAAA",
            "",
        ],
    )
    def test_never_takes_anything_else_for_proof(self, value: str) -> None:
        assert parse_auth(value) == (UNKNOWN, "", value)

    @given(st.text())
    def test_never_raises_and_keeps_the_text(self, value: str) -> None:
        assert parse_auth(value).raw == value


def test_a_hash_in_front_takes_a_key_out_of_use() -> None:
    assert is_commented_out("  #ssh-ed25519 AAAA")
    assert not is_commented_out("ssh-ed25519 AAAA #1")
