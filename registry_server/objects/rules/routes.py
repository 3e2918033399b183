"""What a route object allows: its origins and how long a prefix may be."""

from __future__ import annotations

from collections.abc import Iterable

from registry_server.objects.rules import grammar
from registry_server.objects.rules.numbers import parse_asn
from registry_server.objects.schemas import Attribute, Prefix, Problem, ProblemCode

_BITS = {4: 32, 6: 128}
#: "128" is the longest that can be right; more digits are not worth converting.
_MOST_DIGITS = 3


def read_origins(attributes: Iterable[Attribute], problems: list[Problem]) -> list[int]:
    """Every distinct origin in the order of the file; one that is no AS number is reported and left out."""
    origins: list[int] = []
    for attribute in attributes:
        if attribute.name != "origin":
            continue
        for word in grammar.words(attribute.value):
            origin = parse_asn(word)
            if origin is None:
                detail = f"{grammar.quote(word)} is not AS and a number up to 4294967295"
                problems.append(Problem(ProblemCode.INVALID_ORIGIN, attribute.line, detail))
            elif origin in origins:
                problems.append(
                    Problem(ProblemCode.REPEATED_ORIGIN, attribute.line, f"AS{origin} is named twice")
                )
            else:
                origins.append(origin)
    return origins


def read_length(text: str) -> int | None:
    """The number that up to three digits are, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def read_max_length(attribute: Attribute | None, prefix: Prefix, problems: list[Problem]) -> int | None:
    """The length as written, or None where there is none or it cannot be a length.

    One that is shorter than the prefix is kept and reported: who derives a ROA must see it to drop the route.
    """
    if attribute is None:
        return None
    text = grammar.strip_comment(attribute.value).strip()
    length = read_length(text)
    if length is None or length > _BITS[prefix.family]:
        detail = f"{grammar.quote(text)} is not a length of IPv{prefix.family} prefixes"
        problems.append(Problem(ProblemCode.INVALID_MAX_LENGTH, attribute.line, detail))
        return None
    if length < prefix.length:
        detail = f"a max-length of {length} is shorter than {prefix.text}"
        problems.append(Problem(ProblemCode.MAX_LENGTH_TOO_SHORT, attribute.line, detail))
    return length
