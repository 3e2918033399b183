"""What set-up makes once of files that every start would otherwise work through again.

Each is named after the digest of what it was made of, so it can never stand for something else; what is not
there is made in memory. `shared.web.packing` writes them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PREPARED_ROOT = Path(__file__).parent / "static" / "vendor" / "packed"


def prepared_name(content: bytes, suffix: str) -> str:
    """The name of what is made of this content."""
    return f"{hashlib.sha256(content).hexdigest()}.{suffix}"


def prepared(content: bytes, suffix: str, make: Callable[[], bytes]) -> bytes:
    """What `make` would make of this content."""
    try:
        return (PREPARED_ROOT / prepared_name(content, suffix)).read_bytes()
    except OSError:
        return make()
