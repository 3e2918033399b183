"""Files written whole or not at all, most of them for their owner alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, with mode 0600 from the first byte."""
    _replace(path, text.encode(), 0o600)


def write_public(path: Path, content: bytes) -> None:
    """Replace `path` in one step by what other programs read, with mode 0644: never half of it is seen."""
    _replace(path, content, 0o644)


def _replace(path: Path, content: bytes, mode: int) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def make_private_directory(path: Path) -> None:
    """Create `path` with its parents; the last one is for its owner only (0700)."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o700)


def read_text_loosely(path: Path) -> str:
    """The ASCII text of a small file, without surrounding space; other bytes are passed over."""
    return path.read_bytes().decode("ascii", errors="ignore").replace("\0", "").strip()
