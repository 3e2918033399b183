"""What a person means by what they typed, and how a difference is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from registry_server.objects.rules.classes import CLASSES
from registry_server.objects.rules.numbers import pack


def means_addresses(text: str) -> bool:
    """Whether it is an address or a prefix, well formed or nearly."""
    return pack(text.strip().split("/", 1)[0]) is not None


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
