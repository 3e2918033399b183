"""Identifiers that we mint ourselves."""

from __future__ import annotations

import secrets
from uuid import UUID, uuid4

#: No vowels and no look-alikes, so that no id reads as a word and none is misread aloud.
_ALPHABET = "23456789bcdfghjkmnpqrstvwxyz"


def new_uuid() -> UUID:
    """A random UUID (RFC 9562, version 4)."""
    return uuid4()


def short_id(length: int = 12) -> str:
    """A random id fit for a URL and for reading aloud; 12 characters carry 57 bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
