"""How values are written, in the notation of schema files: `{a|b|} [label] 'literal' [more]...`.

Only what is certain is refused: a word where one of a few must stand, and none where one of a few must.
Whatever the notation says beyond that, such as what a label stands for, is for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from registry_server.objects.rules.grammar import quote, strip_comment

_PIECE = re.compile(r"\{([^{}]*)\}(\.\.\.)?|(\[[^\[\]]*\])(\.\.\.)?|'([^']*)'|(\S+)")


class _Place(NamedTuple):
    """One place of a value: which words may stand there, if not any; whether one must; whether many may."""

    choices: frozenset[str] = frozenset()
    must: bool = True
    many: bool = False


def objection(form: str, value: str) -> str | None:
    """What a value has against the form, or None."""
    places = _places(form)
    given = strip_comment(value).split()
    if places is None or not given:
        return None
    for place in places:
        if place.many:
            return None
        word = given.pop(0) if given else None
        if word is None:
            if place.must:
                return f"something is missing in {quote(value)}"
        elif place.choices and word.lower() not in place.choices:
            return f"{quote(word)} is none of {', '.join(sorted(place.choices))}"
    return None


@lru_cache(maxsize=512)
def _places(form: str) -> tuple[_Place, ...] | None:
    """The places in order; None for a form that is not of this notation from end to end."""
    found = tuple(_read(form))
    return None if any(place is None for place in found) else tuple(place for place in found if place)


def _read(form: str) -> Iterator[_Place | None]:
    for piece in _PIECE.finditer(form):
        choices, repeated, label, many, literal, other = piece.groups()
        if choices is not None:
            words = [word.strip().strip("'").lower() for word in re.split(r"[|,]", choices)]
            # A choice of labels is a choice of anything.
            fixed = frozenset(words) - {""} if not any("[" in word for word in words) else frozenset()
            yield _Place(fixed, must="" not in words, many=bool(repeated))
        elif label is not None:
            yield _Place(many=bool(many), must=False)
        elif literal is not None:
            yield _Place(frozenset({literal.lower()}))
        elif other:
            yield None
