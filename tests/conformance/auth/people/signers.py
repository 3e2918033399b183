"""Keys that really sign: made by ssh-keygen and gpg, and some that only a forger would make."""

import base64
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_private_key

from shared.protocol.registry import AuthLine

NAMESPACE = "routeloom-ownership"


def string(data: bytes) -> bytes:
    """A string of SSH's wire format."""
    return len(data).to_bytes(4, "big") + data


def armoured(raw: bytes) -> str:
    """As ssh-keygen writes a signature."""
    text = base64.b64encode(raw).decode()
    lines = [text[start : start + 70] for start in range(0, len(text), 70)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


def sshsig(key: bytes, signature: bytes, namespace: str = NAMESPACE, digest: str = "sha512") -> str:
    """The frame around a signature, whatever is in it."""
    frame = b"SSHSIG" + (1).to_bytes(4, "big") + string(key) + string(namespace.encode()) + string(b"")
    return armoured(frame + string(digest.encode()) + string(signature))


def signed_part(text: bytes, namespace: str = NAMESPACE, digest: str = "sha512") -> bytes:
    """What the key of an SSH signature signs."""
    hashed = hashlib.new(digest, text).digest()
    return b"SSHSIG" + string(namespace.encode()) + string(b"") + string(digest.encode()) + string(hashed)


@dataclass(frozen=True)
class SshKey:
    """A private key of ssh-keygen, and how it signs."""

    path: Path

    @property
    def public(self) -> list[str]:
        return self.path.with_suffix(".pub").read_text().split()

    @property
    def line(self) -> str:
        """As the registry lists it."""
        return " ".join(self.public[:2])

    @property
    def auth(self) -> AuthLine:
        return AuthLine(method=self.public[0], value=" ".join(self.public[1:]), raw=self.line)

    @property
    def blob(self) -> bytes:
        return base64.b64decode(self.public[1])

    @property
    def private(self) -> Any:
        return load_ssh_private_key(self.path.read_bytes(), None)

    def sign(self, text: str, namespace: str = NAMESPACE, digest: str = "sha512") -> str:
        """What the command of the page prints."""
        command = [
            "ssh-keygen",
            "-Y",
            "sign",
            "-n",
            namespace,
            "-O",
            f"hashalg={digest}",
            "-f",
            str(self.path),
        ]
        done = subprocess.run(command, input=f"{text}\n".encode(), check=True, capture_output=True)
        return done.stdout.decode()

    def sign_by_sha1(self, text: str) -> str:
        """`ssh-rsa` as it was: a signature over SHA-1, which ssh-keygen makes no more."""
        part = signed_part(f"{text}\n".encode())
        made = self.private.sign(part, padding.PKCS1v15(), hashes.SHA1())  # noqa: S303
        return sshsig(self.blob, string(b"ssh-rsa") + string(made))

    def sign_over(self, text: str, digest: str) -> str:
        """A good signature of the key over a digest that nobody should use."""
        part = signed_part(f"{text}\n".encode(), digest=digest)
        return sshsig(self.blob, string(b"ssh-ed25519") + string(self.private.sign(part)), digest=digest)


def make_ssh_key(directory: Path, kind: str, bits: int = 0) -> SshKey:
    path = directory / f"{kind}-{bits}-{len(list(directory.iterdir()))}"
    size = ["-b", str(bits)] if bits else []
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, *size, "-N", "", "-C", "foo@foo.example", "-f", path], check=True
    )
    return SshKey(path)


@dataclass
class SecurityKey:
    """A key of a hardware token (`sk-ssh-ed25519@openssh.com`, `sk-ecdsa-…`), made in software."""

    kind: str
    touched: bool = True
    key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey = field(init=False)

    def __post_init__(self) -> None:
        plain = self.kind == "sk-ssh-ed25519@openssh.com"
        self.key = ed25519.Ed25519PrivateKey.generate() if plain else ec.generate_private_key(ec.SECP256R1())

    @property
    def blob(self) -> bytes:
        if isinstance(self.key, ed25519.Ed25519PrivateKey):
            point = string(self.key.public_key().public_bytes_raw())
        else:
            encoded = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            point = string(b"nistp256") + string(encoded)
        return string(self.kind.encode()) + point + string(b"ssh:")

    @property
    def auth(self) -> AuthLine:
        value = base64.b64encode(self.blob).decode()
        return AuthLine(method=self.kind, value=value, raw=f"{self.kind} {value}")

    def sign(self, text: str) -> str:
        part = hashlib.sha256(signed_part(f"{text}\n".encode())).digest()
        told = bytes([1 if self.touched else 0]) + (7).to_bytes(4, "big")
        over = hashlib.sha256(b"ssh:").digest() + told + part
        if isinstance(self.key, ed25519.Ed25519PrivateKey):
            made = self.key.sign(over)
        else:
            numbers = decode_dss_signature(self.key.sign(over, ec.ECDSA(hashes.SHA256())))
            made = b"".join(string(_mpint(number)) for number in numbers)
        return sshsig(self.blob, string(self.kind.encode()) + string(made) + told)


def _mpint(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big")


@dataclass(frozen=True)
class PgpHome:
    """Somebody's gpg, with as many keys as they like."""

    path: Path

    def run(self, *arguments: str, given: str = "", at: datetime | None = None) -> str:
        clock = ["--faked-system-time", at.strftime("%Y%m%dT%H%M%S!")] if at else []
        command = ["gpg", "--homedir", str(self.path), "--batch", "--yes", "--quiet", "--pinentry-mode"]
        command += ["loopback", "--passphrase", "", *clock, *arguments]
        done = subprocess.run(command, input=given.encode(), check=True, capture_output=True)
        return done.stdout.decode()

    def make(
        self, name: str, algorithm: str = "ed25519", expires: str = "never", at: datetime | None = None
    ) -> str:
        """A primary key that signs; answers its fingerprint."""
        uid = f"{name} <{name}@foo.example>"
        self.run("--quick-generate-key", uid, algorithm, "sign,cert", expires, at=at)
        return self.fingerprints(f"={uid}")[0]

    def add_subkey(self, primary: str, expires: str = "never", at: datetime | None = None) -> str:
        """A subkey that signs; answers its fingerprint."""
        self.run("--quick-add-key", primary, "ed25519", "sign", expires, at=at)
        return self.fingerprints(primary)[-1]

    def fingerprints(self, whose: str) -> list[str]:
        listed = self.run("--with-colons", "--list-keys", whose)
        return [line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:")]

    def public(self, fingerprint: str) -> str:
        return self.run("--armor", "--export", fingerprint)

    def secret(self, fingerprint: str) -> str:
        return self.run("--armor", "--export-secret-keys", fingerprint)

    def revoke(self, fingerprint: str) -> None:
        """As the person would: by the certificate that gpg made beside the key."""
        text = (self.path / "openpgp-revocs.d" / f"{fingerprint}.rev").read_text()
        self.run("--import", given=text.replace(":-----BEGIN", "-----BEGIN"))

    def clear_sign(self, text: str, by: str, *options: str, at: datetime | None = None) -> str:
        """What the command of the page prints."""
        return self.run(*options, "--clearsign", "--local-user", f"{by}", given=f"{text}\n", at=at)

    def detach_sign(self, text: str, by: str, *options: str, at: datetime | None = None) -> str:
        arguments = (*options, "--armor", "--detach-sign", "--local-user", by)
        return self.run(*arguments, given=f"{text}\n", at=at)


@contextmanager
def pgp_home() -> Iterator[PgpHome]:
    """A home with a short path, whose agent is ended with it."""
    path = Path(tempfile.mkdtemp(prefix="rl-pgp-"))
    try:
        yield PgpHome(path)
    finally:
        subprocess.run(["gpgconf", "--homedir", str(path), "--kill", "all"], check=False)
        shutil.rmtree(path, ignore_errors=True)


def fingerprint_line(fingerprint: str) -> AuthLine:
    raw = f"pgp-fingerprint {fingerprint}"
    return AuthLine(method="pgp-fingerprint", value=fingerprint, raw=raw, fingerprint=fingerprint)


def certificate_line(fingerprint: str, armour: str, length: int = 8) -> AuthLine:
    """A line that names a key certificate of the registry."""
    name = f"PGPKEY-{fingerprint[-length:]}"
    return AuthLine(method="pgpkey", value=name, raw=name, fingerprint=fingerprint, certificate=armour)


def lines_of(*keys: SshKey | SecurityKey) -> Sequence[AuthLine]:
    return [key.auth for key in keys]


def now() -> datetime:
    """Signing programs know no other clock."""
    return datetime.now(UTC)
