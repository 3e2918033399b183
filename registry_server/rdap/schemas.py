"""What an RDAP answer is made of."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
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


class Search(StrEnum):
    """What is searched (RFC 9082, section 3.2; networks and AS numbers by RFC 9910)."""

    DOMAINS = "domains"
    ENTITIES = "entities"
    NETWORKS = "ips"
    AUTNUMS = "autnums"


class Searched(NamedTuple):
    """How one kind of things is searched, and what the answer says."""

    classes: tuple[str, ...]
    #: Each property, and whether it is a name that an object gives itself; else it is the key.
    properties: dict[str, bool]
    #: The member of the answer that has the results.
    member: str
    #: What the answer conforms to beyond every other.
    extensions: tuple[str, ...] = ()


SEARCHES = {
    Search.DOMAINS: Searched(("domain",), {"name": False}, "domainSearchResults"),
    Search.ENTITIES: Searched(
        ("person", "role", "organisation", "mntner"), {"fn": True, "handle": False}, "entitySearchResults"
    ),
    Search.NETWORKS: Searched(
        ("inetnum", "inet6num"),
        {"name": True, "handle": False},
        "ipSearchResults",
        ("ips", "ipSearchResults"),
    ),
    Search.AUTNUMS: Searched(
        ("aut-num",),
        {"name": True, "handle": False},
        "autnumSearchResults",
        ("autnums", "autnumSearchResults"),
    ),
}
