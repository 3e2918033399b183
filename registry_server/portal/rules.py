"""What a person means by what they typed, and how a difference is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from urllib.parse import quote

from registry_server.lookup.schemas import ProblemRead
from registry_server.objects.rules.classes import CLASSES, key_of
from registry_server.objects.rules.numbers import PrefixRefused, pack, parse_prefix
from registry_server.objects.rules.paths import place
from registry_server.schema.rules.judging import beyond
from registry_server.schema.schemas import Finding


class Meaning(StrEnum):
    """What somebody asks for."""

    NOTHING = "nothing"
    WORDS = "words"
    ADDRESSES = "addresses"
    #: Refusals: too short for words, or nearly a prefix.
    SHORT = "short"
    PREFIX = "prefix"


REFUSED = frozenset({Meaning.SHORT, Meaning.PREFIX})
_SHORTEST = 2


def meaning_of(text: str) -> Meaning:
    """What the text asks for."""
    if not text:
        return Meaning.NOTHING
    if pack(text.split("/", 1)[0]) is None:
        return Meaning.WORDS if len(text) >= _SHORTEST else Meaning.SHORT
    if "/" in text:
        try:
            parse_prefix(text)
        except PrefixRefused:
            return Meaning.PREFIX
    return Meaning.ADDRESSES


def page_of(path: str) -> str | None:
    """The page of the object that stands at a path, or None where none can."""
    where, problem = place(path.encode(errors="replace"))
    if where is None or problem is not None:
        return None
    return address_of(where.object_class, key_of(where.object_class, where.file_name))


def together(problems: Sequence[ProblemRead], findings: Sequence[Finding]) -> list[ProblemRead | Finding]:
    """What is wrong by grammar and by schema, each once, by line."""
    return sorted(
        [*problems, *beyond(problems, findings)], key=lambda each: (each.line or 0, each.code.value)
    )


def address_of(object_class: str, key: str) -> str:
    """The page of an object."""
    return f"/registry/objects/{object_class}/{quote(key)}"


def class_names() -> list[str]:
    """Every class, by name."""
    return sorted(CLASSES)


def drawn(diff: str) -> Iterator[tuple[str, str]]:
    """Each line of a difference with what it is: added, removed or neither."""
    kinds = {"+": "added", "-": "removed"}
    for line in diff.split("\n")[:-1]:
        yield kinds.get(line[:1], ""), line
