"""The key file that seals what SQL must not know, and the keys that this process has opened."""

from __future__ import annotations

import base64
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from joserfc.jwk import ECKey, RSAKey

from auth_server.signing_keys.errors import SealBroken
from auth_server.signing_keys.schemas import Algorithm, OpenedKey
from shared.kernel.files import make_private_directory, write_private
from shared.kernel.ids import short_id
from shared.kernel.recent import Recent

_NONCE = 12
FILE = "auth-seal"


@dataclass(frozen=True, slots=True)
class Seal:
    """Encrypts and authenticates texts (AES-256-GCM) for one purpose each."""

    key: bytes = field(repr=False)
    _cipher: AESGCM = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare the key once."""
        object.__setattr__(self, "_cipher", AESGCM(self.key))

    def close(self, text: str, purpose: str) -> str:
        """Seal a text; it opens for the same purpose only."""
        nonce = secrets.token_bytes(_NONCE)
        sealed = self._cipher.encrypt(nonce, text.encode(), purpose.encode())
        return base64.urlsafe_b64encode(nonce + sealed).decode()

    def open(self, sealed: str, purpose: str) -> str:
        """The text again. Raises SealBroken."""
        raw = base64.urlsafe_b64decode(sealed)
        try:
            return self._cipher.decrypt(raw[:_NONCE], raw[_NONCE:], purpose.encode()).decode()
        except InvalidTag:
            raise SealBroken from None


@dataclass(slots=True)
class OpenedKeys:
    """What one process keeps of the seal and of keys; only a key's stage ever changes."""

    directory: Path
    seal: Seal | None = None
    by_kid: dict[str, ECKey | RSAKey] = field(default_factory=dict, repr=False)
    #: Whether every algorithm was seen to have its keys.
    complete: bool = False
    #: The keys that sign, and those that verify, as they were read a moment ago.
    signing: Recent[Algorithm, OpenedKey] = field(default_factory=Recent, repr=False)
    verifying: Recent[str, OpenedKey] = field(default_factory=Recent, repr=False)

    async def forget(self) -> None:
        """Keys were rotated or retired."""
        await self.signing.forget()
        await self.verifying.forget()

    def get_seal(self) -> Seal:
        """The seal of this installation; its file is made, for the owner only, at the first start."""
        if self.seal is None:
            self.seal = Seal(_load_or_make(self.directory / FILE))
        return self.seal


def _load_or_make(path: Path) -> bytes:
    make_private_directory(path.parent)
    if not path.exists():
        draft = path.with_name(f".{path.name}.{short_id()}")
        write_private(draft, base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())
        try:
            # A link never replaces: of two processes that start together, one file wins for both.
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink(missing_ok=True)
    return base64.urlsafe_b64decode(path.read_text(encoding="ascii"))
