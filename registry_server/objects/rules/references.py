"""Which other objects an object names."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import lru_cache

from registry_server.objects.rules import grammar
from registry_server.objects.rules.classes import LONGEST_KEY, fold
from registry_server.objects.schemas import Attribute, Problem, ProblemCode, Reference

#: `mbrs-by-ref: ANY` names no object (RFC 2622, section 5.1).
_ANYBODY = "any"
#: Longer values are lists, which do not come again.
_REMEMBERED = 40


#: Names of one value, folded and as written.
Named = tuple[tuple[str, str], ...]


def read_references(
    attributes: Iterable[Attribute], kinds: Container[str], problems: list[Problem]
) -> tuple[Reference, ...]:
    """Every object that is named by an attribute of these kinds, once a line, in the order of the file."""
    found = []
    for name, value, line in attributes:
        if name in kinds:
            for target, shown in _named(value):
                if len(shown) > LONGEST_KEY:
                    detail = f"{grammar.quote(shown)} is too long for a key"
                    problems.append(Problem(ProblemCode.INVALID_REFERENCE, line, detail))
                else:
                    found.append(Reference(name, target, shown, line))
    return tuple(found)


def named_in(value: str) -> Named | None:
    """Each distinct name in the value, or None where one is too long for a key."""
    return _known(value) if len(value) <= _REMEMBERED else _checked(value)


def _checked(value: str) -> Named | None:
    if len(value) <= LONGEST_KEY and grammar.is_word(value):
        folded = value.lower()
        return () if folded == _ANYBODY else ((folded, value),)
    named = _named(value)
    return None if any(len(shown) > LONGEST_KEY for _, shown in named) else named


#: The same few maintainers and contacts stand in all objects of one network.
_known = lru_cache(maxsize=4096)(_checked)


def _named(value: str) -> Named:
    """Each distinct name in the value, folded and as written."""
    words = grammar.words(value)
    distinct = words if len(words) == 1 else dict.fromkeys(words)
    return tuple((fold(word), word) for word in distinct if word.lower() != _ANYBODY)
