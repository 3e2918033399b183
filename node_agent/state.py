"""The state directory: identity key, agent token, waiting registration, and the lock of the one agent."""

from __future__ import annotations

import base64
import fcntl
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from node_agent.errors import AgentAlreadyRunning, StateDirectoryUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

_PRIVATE_DIRECTORY = 0o700
_PRIVATE_FILE = 0o600
_TRIES = 10
_PAUSE_SECONDS = 0.02
_OWN_FILES = frozenset(
    {
        *("identity.key", "agent-token", "agent.lock", "agent.log", "registration", "node-id"),
        *("wireguard.key", "sealing.key", "desired-state.json", "achieved.json", "paused"),
    }
)


def prepare(directory: Path) -> None:
    """Make the directory, for its owner only. Raises StateDirectoryUnusable with the cause.

    A directory that holds other things is refused: taking its rights away could break its users.
    """
    try:
        directory.mkdir(mode=_PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        names = {path.name for path in directory.iterdir() if not path.name.startswith(".")}
        if names and not names & _OWN_FILES:
            raise StateDirectoryUnusable(
                f"{directory} holds other files; name a directory for the agent alone."
            )
        directory.chmod(_PRIVATE_DIRECTORY)
    except OSError as error:
        raise StateDirectoryUnusable(f"{directory} cannot be used: {error.strerror}.") from error


def write_private(path: Path, text: str) -> None:
    """Replace the file in one step; at no time can another user read it, nor is it half written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        temporary.unlink()
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_text(path: Path) -> str | None:
    """The file's text without surrounding space; None when there is none."""
    try:
        return path.read_text().strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise StateDirectoryUnusable(f"{path} cannot be read.") from error


def identity(directory: Path) -> Ed25519PrivateKey:
    """The agent's identity key, made at the first call and never changed after."""
    path = directory / "identity.key"
    pem = read_text(path)
    if pem is None:
        key = Ed25519PrivateKey.generate()
        pem_bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        write_private(path, pem_bytes.decode())
        return key
    try:
        loaded = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise StateDirectoryUnusable(f"{path} holds no usable key.") from error
    if not isinstance(loaded, Ed25519PrivateKey):
        raise StateDirectoryUnusable(f"{path} holds a key of another kind than Ed25519.")
    return loaded


def public_text(key: Ed25519PrivateKey) -> str:
    """The public half in base64."""
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def waiting_registration(directory: Path) -> UUID | None:
    """The registration that waits for approval, if one does."""
    text = read_text(directory / "registration")
    with suppress(ValueError):
        return UUID(text) if text else None
    return None


def keep_registration(directory: Path, registration: UUID | None) -> None:
    """Remember the registration that waits for approval, or forget it."""
    path = directory / "registration"
    if registration is None:
        path.unlink(missing_ok=True)
    else:
        write_private(path, f"{registration}\n")


@dataclass(frozen=True, slots=True)
class Holder:
    """The agent that holds a state directory."""

    pid: int
    #: What it is: an agent for another server, or of another version, is not the one that is wanted.
    purpose: str


@contextmanager
def locked(directory: Path, purpose: str = "") -> Iterator[None]:
    """Hold the directory for one agent. Raises AgentAlreadyRunning while another process holds it.

    The kernel drops the lock with the process, however that ends, so no stale lock can be left.
    """
    path = directory / "agent.lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE_FILE)
    except OSError as error:
        raise StateDirectoryUnusable(f"{path} cannot be opened: {error.strerror}.") from error
    with os.fdopen(descriptor, "r+") as file:
        if not _take(file):
            raise AgentAlreadyRunning(f"Another agent runs on {directory}.")
        file.truncate()
        file.write(f"{os.getpid()} {purpose}\n")
        file.flush()
        yield


def _take(file: TextIO) -> bool:
    """Whether the lock could be had: whoever asks for its holder has it for a moment too."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
        else:
            return True
    return False


def lock_holder(directory: Path) -> Holder | None:
    """The agent that holds the directory; None when no agent runs on it."""
    try:
        file = (directory / "agent.lock").open()
    except OSError:
        return None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            pid, _, purpose = file.read().strip().partition(" ")
            return Holder(int(pid), purpose) if pid.isdecimal() else None
        return None
