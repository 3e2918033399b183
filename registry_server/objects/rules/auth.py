"""What proves a maintainer: the `auth:` lines, read so that nothing unknown ever counts as proof."""

from __future__ import annotations

import re

from registry_server.objects.schemas import AuthMethod

UNKNOWN = "unknown"
_SSH = frozenset(
    {
        "ssh-rsa",
        "ssh-ed25519",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com",
    }
)
_FINGERPRINT = re.compile(r"[0-9A-F]{40}", re.ASCII | re.IGNORECASE)
_CERTIFICATE = re.compile(r"PGPKEY-[0-9A-F]{8,40}", re.ASCII | re.IGNORECASE)


def is_commented_out(value: str) -> bool:
    """A key that its owner took out of use by a `#` in front."""
    return value.lstrip().startswith("#")


def parse_auth(value: str) -> AuthMethod:
    """Read one `auth:` value; what is not exactly a method that we know keeps its text and is unknown."""
    method, _, rest = value.replace("\n", " ").partition(" ")
    rest = rest.strip()
    if method == "pgp-fingerprint" and _FINGERPRINT.fullmatch(rest.replace(" ", "")):
        return AuthMethod(method, rest.replace(" ", "").upper(), value)
    if method in _SSH and rest:
        return AuthMethod(method, rest, value)
    if not rest and _CERTIFICATE.fullmatch(method):
        return AuthMethod("pgpkey", method.upper(), value)
    return AuthMethod(UNKNOWN, "", value)
