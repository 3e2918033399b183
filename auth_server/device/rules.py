"""Codes that people type (RFC 8628, section 6.1)."""

from __future__ import annotations

import re
import secrets

#: No vowels, so that no words come about, and no letter that looks like a digit.
ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
_LETTERS = 8
_LONGEST = 64
DEVICE_PREFIX = "rld"
_BETWEEN = re.compile(r"[\s\-\u2010-\u2015_.]+")


def mint_user_code() -> str:
    """Eight letters in two groups: 34 bits, for minutes, against a few guesses."""
    return shown_user_code("".join(secrets.choice(ALPHABET) for _ in range(_LETTERS)))


def shown_user_code(letters: str) -> str:
    """In two groups, as it is printed."""
    return f"{letters[:4]}-{letters[4:]}"


def normal_user_code(typed: str) -> str | None:
    """The eight letters, whatever their case and what stands between them; None for anything else."""
    letters = _BETWEEN.sub("", typed[:_LONGEST]).upper()
    good = len(letters) == _LETTERS and set(letters) <= set(ALPHABET)
    return letters if good else None
