"""Objects and routes as the index has them, and the questions that callers put."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from registry_server.objects.rules.grammar import words
from registry_server.objects.rules.numbers import parse_asn
from shared.kernel.errors import FieldError, InvalidInput


class StoredObject(NamedTuple):
    """An object as the index has it."""

    path: str
    key: str
    raw: bytes
    attributes: Sequence[tuple[str, str]]

    def values(self, name: str) -> list[str]:
        """Every value of an attribute."""
        return [value for found, value in self.attributes if found == name]

    def words(self, name: str) -> list[str]:
        """Every word of an attribute that names things, each once."""
        return list(dict.fromkeys(word for value in self.values(name) for word in words(value)))

    def first(self, name: str) -> str | None:
        """The first value of an attribute, if it has one."""
        return next(iter(self.values(name)), None)


class StoredRoute(NamedTuple):
    """A route as the index has it."""

    object_id: int
    prefix: str
    max_length: int | None


def read_asn(text: str, field: str) -> int:
    """The AS number that a caller means: `AS4242429901`, `as4242429901` or `4242429901`."""
    number = parse_asn(text.strip(), bare=True)
    if number is None:
        message = "an AS number is AS and a number from 0 to 4294967295"
        raise InvalidInput(f"Not an AS number: {field}.", fields=[FieldError(field, "invalid_asn", message)])
    return number
