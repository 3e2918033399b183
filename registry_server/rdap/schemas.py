"""What an RDAP answer is made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

#: A JSON object of RFC 9083; its members are named there.
Document = dict[str, Any]
CONFORMANCE = ["rdap_level_0", "cidr0"]
MEDIA_TYPE = "application/rdap+json"


class Contact(NamedTuple):
    """Another object that is named, and as what."""

    role: str
    told: Told


class Told(NamedTuple):
    """One object of the registry, as far as RDAP tells of it."""

    object_class: str
    key: str
    attributes: list[tuple[str, str]]

    def first(self, *names: str) -> str | None:
        """The first value of the first of these attributes that has one."""
        for wanted in names:
            for name, value in self.attributes:
                if name == wanted and value:
                    return value
        return None

    def values(self, name: str) -> list[str]:
        """Every value of an attribute."""
        return [value for found, value in self.attributes if found == name and value]


class Life(NamedTuple):
    """When an object came and when it last changed, in seconds since 1970."""

    registered: int
    changed: int

    def events(self) -> list[Document]:
        """Both as RDAP has them."""
        pairs = (("registration", self.registered), ("last changed", self.changed))
        return [
            {"eventAction": action, "eventDate": datetime.fromtimestamp(at, UTC).isoformat()}
            for action, at in pairs
        ]
