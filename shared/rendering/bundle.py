"""A rendered configuration: files by path, and the name by which a running daemon proves that it has them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

MAIN = "main.conf"
_DIGEST_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An option that this node's BIRD does not know; it is left out, and the operator is told."""

    field: str
    needs: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files of one generation, without `main.conf`'s own name among what is digested."""

    identity: str
    files: Mapping[str, str]
    unsupported: tuple[Unsupported, ...] = ()
    #: Secrets that were not at hand; their places hold a mark, and the bundle is only to be looked at.
    sealed: tuple[str, ...] = field(default=())


def digest_of(files: Mapping[str, str]) -> str:
    """Twelve hexadecimal digits over the names and bytes of all files, whatever their order."""
    whole = hashlib.sha256()
    for path in sorted(files):
        content = files[path].encode()
        whole.update(f"{path}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()[:_DIGEST_CHARACTERS]
