"""What is to be signed, and the commands that sign it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from auth_server.ownership.errors import SubjectMalformed
from auth_server.ownership.rules.ssh import is_weak_line, ssh_fingerprint
from auth_server.ownership.schemas import KeyShown
from shared.protocol.registry import AuthLine

#: Also keeps the name safe inside quotes of a shell, and as one segment of a path.
_MNTNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_ASN = re.compile(r"(?:AS)?([0-9]{1,10})", re.ASCII | re.IGNORECASE)
_HIGHEST_ASN = 2**32 - 1
_LONGEST_NAME = 80
_FINGERPRINT = re.compile(r"[0-9A-F]{40}", re.ASCII)
PGP_METHODS = frozenset({"pgp-fingerprint", "pgpkey"})
_FILE_OF = {
    "ssh-ed25519": "id_ed25519",
    "ssh-rsa": "id_rsa",
    "ecdsa-sha2-nistp256": "id_ecdsa",
    "ecdsa-sha2-nistp384": "id_ecdsa",
    "ecdsa-sha2-nistp521": "id_ecdsa",
    "sk-ssh-ed25519@openssh.com": "id_ed25519_sk",
    "sk-ecdsa-sha2-nistp256@openssh.com": "id_ecdsa_sk",
}
SSH_METHODS = frozenset(_FILE_OF)


def read_asn(text: str) -> int | None:
    """The AS number that is meant; None for what is none."""
    found = _ASN.fullmatch(text.strip())
    number = int(found[1]) if found else None
    return number if number is not None and number <= _HIGHEST_ASN else None


def read_mntner(text: str) -> str:
    """The maintainer's name that is meant. Raises SubjectMalformed."""
    name = text.strip()
    if len(name) > _LONGEST_NAME or not _MNTNER.fullmatch(name):
        raise SubjectMalformed
    return name


def same_name(one: str, other: str) -> bool:
    """Whether both name the same maintainer; case does not matter."""
    return one.casefold() == other.casefold()


def challenge_text(service: str, account: str, mntner: str, nonce: str, until: datetime) -> str:
    """One line that names service, person, maintainer, nonce and end, so that it is good for nothing else."""
    end = until.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{service} ownership: account {account} holds {mntner}, nonce {nonce}, until {end}"


def signable_forms(text: str) -> tuple[bytes, ...]:
    """The bytes that count as the challenge: the line alone, or ended as a shell ends it."""
    line = text.encode()
    return (line + b"\n", line, line + b"\r\n")


def usable(lines: Iterable[AuthLine]) -> list[AuthLine]:
    """Those that somebody could prove with, be it with a key that is then found too weak."""
    return [line for line in lines if line.method in SSH_METHODS or _pgp_name(line)]


def keys_shown(lines: Iterable[AuthLine], text: str, namespace: str) -> list[KeyShown]:
    """How to sign with each key that the registry lists."""
    return [_shown(line, text, namespace) for line in usable(lines)]


def _pgp_name(line: AuthLine) -> str:
    """How gpg calls the key; empty where the registry does not say which key it is."""
    if line.method == "pgp-fingerprint" and _FINGERPRINT.fullmatch(line.value):
        return line.value
    return line.value.removeprefix("PGPKEY-") if line.method == "pgpkey" and line.certificate else ""


def _shown(line: AuthLine, text: str, namespace: str) -> KeyShown:
    if line.method in PGP_METHODS:
        name = _pgp_name(line)
        pasted = line.method == "pgp-fingerprint"
        return KeyShown(
            method=line.method,
            fingerprint=line.fingerprint or line.value,
            command=f"echo '{text}' | gpg --clearsign --local-user {name}",
            export_command=f"gpg --armor --export {name}" if pasted else "",
        )
    return KeyShown(
        method=line.method,
        fingerprint=ssh_fingerprint(line.value),
        command=f"echo '{text}' | ssh-keygen -Y sign -n {namespace} -f ~/.ssh/{_FILE_OF[line.method]}",
        weak=is_weak_line(line.method, line.value),
    )
