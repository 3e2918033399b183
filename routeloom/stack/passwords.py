"""Every password of a full installation: made once, kept in one file, never replaced by a later start."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from routeloom.stack.errors import SecretsNotWritable, SecretsUnreadable
from shared.kernel.files import write_private

if TYPE_CHECKING:
    from pathlib import Path

#: Who has a password where. A database role for each service; on each key-value server a user for each
#: service that uses it, `operator` for the command line in the container, `maintenance` for its settings.
USERS: dict[str, tuple[str, ...]] = {
    "postgres": ("superuser", "control", "auth", "registry"),
    "valkey": ("control", "auth", "cap", "operator", "maintenance"),
    "valkey-state": ("control", "registry", "operator", "maintenance"),
    "redis": ("control", "auth", "registry", "operator"),
    "cap": ("admin",),
}
_BYTES = 24


@dataclass(frozen=True, slots=True)
class Captcha:
    """A site key of the Cap server, as its dashboard made it."""

    site_key: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Passwords:
    """By server and user."""

    by_server: dict[str, dict[str, str]] = field(repr=False)
    captcha: Captcha | None = None

    def of(self, server: str, user: str) -> str:
        """One password; it consists of hexadecimal digits and needs no quoting anywhere."""
        return self.by_server[server][user]

    def digest(self, server: str, user: str) -> str:
        """What an access list holds in place of the password."""
        return hashlib.sha256(self.of(server, user).encode()).hexdigest()


def load_or_make(path: Path) -> Passwords:
    """The passwords in the file, with fresh ones where a user has none; what is there stays.

    Raises SecretsNotWritable, or SecretsUnreadable rather than replace what somebody may still need.
    """
    kept = _read(path)
    known: dict[str, dict[str, str]] = kept.get("passwords", {})
    complete = {
        server: {user: known.get(server, {}).get(user) or secrets.token_hex(_BYTES) for user in users}
        for server, users in USERS.items()
    }
    captcha = kept.get("captcha")
    passwords = Passwords(complete, Captcha(**captcha) if captcha else None)
    if complete != known:
        keep(path, passwords)
    return passwords


def keep(path: Path, passwords: Passwords) -> None:
    """Write the file, for its owner alone. Raises SecretsNotWritable."""
    document: dict[str, Any] = {"passwords": passwords.by_server}
    if passwords.captcha is not None:
        document["captcha"] = {
            "site_key": passwords.captcha.site_key,
            "secret": passwords.captcha.secret,
        }
    try:
        write_private(path, json.dumps(document, indent=1) + "\n")
    except OSError as error:
        raise SecretsNotWritable(f"{path.parent} cannot be written: {error.strerror}.") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("passwords"), dict):
        raise SecretsUnreadable(
            f"{path} is not what was written there. Restore it, or remove it where there is no data yet."
        )
    return document
