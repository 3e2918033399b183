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


def read_references(
    attributes: Iterable[Attribute], kinds: Container[str], problems: list[Problem]
) -> tuple[Reference, ...]:
    """Every object that is named by an attribute of these kinds, once a line, in the order of the file."""
    found = []
    for name, value, line in attributes:
        if name in kinds:
            for target, shown in _known(value) if len(value) <= _REMEMBERED else _named(value):
                if len(shown) > LONGEST_KEY:
                    detail = f"{grammar.quote(shown)} is too long for a key"
                    problems.append(Problem(ProblemCode.INVALID_REFERENCE, line, detail))
                else:
                    found.append(Reference(name, target, shown, line))
    return tuple(found)


def _named(value: str) -> tuple[tuple[str, str], ...]:
    """Each distinct name in the value, folded and as written."""
    words = grammar.words(value)
    distinct = words if len(words) == 1 else dict.fromkeys(words)
    return tuple((fold(word), word) for word in distinct if word.lower() != _ANYBODY)


#: The same few maintainers and contacts stand in all objects of one network.
_known = lru_cache(maxsize=4096)(_named)
