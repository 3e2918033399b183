"""Signatures of `ssh-keygen -Y sign` (OpenSSH's PROTOCOL.sshsig)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auth_server.ownership.errors import (
    KeyNotListed,
    SignatureMalformed,
    SignatureWrong,
    WeakDigest,
    WeakKey,
    WrongNamespace,
)
from auth_server.ownership.schemas import SignedBy
from shared.protocol.registry import AuthLine

_MAGIC, _VERSION = b"SSHSIG", 1
_DIGESTS = frozenset({b"sha256", b"sha512"})
#: By algorithm of the key, the algorithms its signature may have; `ssh-rsa` itself would be SHA-1.
_SIGNATURES = {
    b"ssh-ed25519": frozenset({b"ssh-ed25519"}),
    b"ssh-rsa": frozenset({b"rsa-sha2-256", b"rsa-sha2-512"}),
    b"ecdsa-sha2-nistp256": frozenset({b"ecdsa-sha2-nistp256"}),
    b"ecdsa-sha2-nistp384": frozenset({b"ecdsa-sha2-nistp384"}),
    b"ecdsa-sha2-nistp521": frozenset({b"ecdsa-sha2-nistp521"}),
    b"sk-ssh-ed25519@openssh.com": frozenset({b"sk-ssh-ed25519@openssh.com"}),
    b"sk-ecdsa-sha2-nistp256@openssh.com": frozenset({b"sk-ecdsa-sha2-nistp256@openssh.com"}),
}
_SMALLEST_RSA_KEY = 2048
_PRESENT = 0x01
_ANYBODY = "holder"


@dataclass(slots=True)
class _Fields:
    """Reads the fields of SSH's wire format (RFC 4251, section 5). Raises SignatureMalformed."""

    rest: bytes

    def take(self, count: int) -> bytes:
        if count > len(self.rest):
            raise SignatureMalformed
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        return self.take(self.number())


@dataclass(frozen=True, slots=True)
class SshSignature:
    """The parts of a signature that are judged before it is verified."""

    key: bytes
    namespace: bytes
    digest: bytes
    algorithm: bytes
    #: What a hardware token says of how it signed (OpenSSH's PROTOCOL.u2f); empty for other keys.
    told: bytes

    @property
    def untouched(self) -> bool:
        """Whether a hardware token signed without anybody at it; the library does not ask."""
        return self.algorithm.startswith(b"sk-") and not (self.told and self.told[0] & _PRESENT)

    @classmethod
    def read(cls, raw: bytes) -> SshSignature:
        """Take it apart. Raises SignatureMalformed."""
        fields = _Fields(raw)
        if fields.take(len(_MAGIC)) != _MAGIC or fields.number() != _VERSION:
            raise SignatureMalformed
        key, namespace, reserved = fields.string(), fields.string(), fields.string()
        digest, signature = fields.string(), fields.string()
        if fields.rest or reserved:
            raise SignatureMalformed
        made = _Fields(signature)
        algorithm, _made = made.string(), made.string()
        return cls(key, namespace, digest, algorithm, made.rest)


def check_ssh(block: str, forms: Sequence[bytes], lines: Iterable[AuthLine], namespace: str) -> SignedBy:
    """The line whose key signed one of these forms of the challenge. Raises SignatureRefused."""
    signature = SshSignature.read(_decoded(block))
    if signature.namespace != namespace.encode():
        raise WrongNamespace
    if signature.digest not in _DIGESTS:
        raise WeakDigest
    _check_strength(signature)
    line = _line_of(signature.key, lines)
    if signature.untouched or not any(_verifies(form, block.encode(), line, namespace) for form in forms):
        raise SignatureWrong
    return SignedBy(line.method, line.value.split()[0], ssh_fingerprint(line.value))


def ssh_fingerprint(value: str) -> str:
    """As ssh-keygen shows it; empty for a line whose key cannot be read."""
    digest = hashlib.sha256(_blob(value)).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def is_weak_line(method: str, value: str) -> bool:
    """Whether a signature by the key of this line would be refused whatever it says."""
    return method == "ssh-rsa" and _rsa_bits(_blob(value)) < _SMALLEST_RSA_KEY


def _decoded(block: str) -> bytes:
    try:
        return base64.b64decode("".join(block.split("\n")[1:-2]), validate=True)
    except binascii.Error:
        raise SignatureMalformed from None


def _blob(value: str) -> bytes:
    """The key of a line as bytes; none where it cannot be read, and then it equals no key."""
    words = value.split()
    try:
        return base64.b64decode(words[0], validate=True) if words else b""
    except (binascii.Error, ValueError):
        return b""


def _line_of(key: bytes, lines: Iterable[AuthLine]) -> AuthLine:
    for line in lines:
        if line.method.encode() in _SIGNATURES and key and _blob(line.value) == key:
            return line
    raise KeyNotListed


def _check_strength(signature: SshSignature) -> None:
    kind = _Fields(signature.key).string()
    if signature.algorithm == b"ssh-rsa":
        raise WeakDigest
    if kind not in _SIGNATURES or signature.algorithm not in _SIGNATURES[kind]:
        raise WeakKey
    if kind == b"ssh-rsa" and _rsa_bits(signature.key) < _SMALLEST_RSA_KEY:
        raise WeakKey


def _rsa_bits(key: bytes) -> int:
    fields = _Fields(key)
    try:
        _, _exponent, modulus = fields.string(), fields.string(), fields.string()
    except SignatureMalformed:
        return 0
    return int.from_bytes(modulus, "big").bit_length()


def _verifies(form: bytes, block: bytes, line: AuthLine, namespace: str) -> bool:
    """Both are given as bytes: a text would be taken for the name of a file."""
    import asyncssh  # noqa: PLC0415 - half a second, which only those pay who prove something

    allowed = f'{_ANYBODY} namespaces="{namespace}" {line.method} {line.value.split()[0]}'
    try:
        return bool(asyncssh.validate_sshsig(form, block, _ANYBODY, allowed.encode()))
    except (ValueError, asyncssh.Error):
        return False
