"""What a search asks for."""

from __future__ import annotations

from typing import NamedTuple

from registry_server.objects.rules.classes import fold
from shared.kernel.errors import FieldError, InvalidInput

_SHORTEST, _MOST_WORDS = 2, 8


class Question(NamedTuple):
    """All words must be in the key or the text; `key` and `text` are the whole, for the ranking."""

    words: list[str]
    key: str
    text: str
    classes: list[str]


def read_question(text: str, classes: list[str]) -> Question:
    """The question of a person. Raises InvalidInput for one that everything would answer."""
    wanted = " ".join("".join(each if each.isprintable() else " " for each in text).lower().split())
    if len(wanted) < _SHORTEST:
        message = f"Give at least {_SHORTEST} characters."
        raise InvalidInput(message, fields=[FieldError("q", "too_short", message)])
    return Question(wanted.split()[:_MOST_WORDS], fold(wanted), wanted, classes)
