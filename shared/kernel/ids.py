"""Identifiers that we mint ourselves."""

from __future__ import annotations

import secrets
from uuid import UUID, uuid4

#: No vowels and no look-alikes, so that no id reads as a word and none is misread aloud.
_ALPHABET = "23456789bcdfghjkmnpqrstvwxyz"
#: Every byte stands for a letter, and each letter for as many bytes; those past that are drawn again.
_LETTER_OF_BYTE = bytes(ord(_ALPHABET[byte % len(_ALPHABET)]) for byte in range(256))
_UNFAIR = bytes(range(256 - 256 % len(_ALPHABET), 256))


def new_uuid() -> UUID:
    """A random UUID (RFC 9562, version 4)."""
    return uuid4()


def short_id(length: int = 12) -> str:
    """A random id fit for a URL and for reading aloud; 12 characters carry 57 bits."""
    letters = b""
    while len(letters) < length:
        letters += secrets.token_bytes(length + 8).translate(_LETTER_OF_BYTE, _UNFAIR)
    return letters[:length].decode()
