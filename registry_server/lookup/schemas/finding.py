"""Answers about prefixes, and what a search found."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, Field

from registry_server.lookup.schemas.catalogue import ObjectEntry, example

_NEXT = "Give as `cursor` to go on; null at the end"


class Match(StrEnum):
    """Which blocks are meant, seen from the one that was asked for."""

    #: The nearest inetnum and the nearest routes that contain it, which may be itself.
    LONGEST = "longest"
    EXACT = "exact"
    #: Everything that contains it, itself included, the nearest first.
    COVERING = "covering"
    #: Everything strictly inside, in the order of addresses.
    MORE_SPECIFIC = "more-specific"


class PrefixItem(BaseModel):
    """One inetnum, inet6num, route or route6."""

    object_class: str
    key: str
    prefix: str
    netname: str | None
    status: str | None
    policy: str | None
    mnt_by: list[str]
    origins: list[int] = Field(description="AS numbers that may originate a route")
    max_length: int | None


class PrefixAnswer(BaseModel):
    """What the registry says of a prefix or an address."""

    model_config = example(
        prefix="172.20.0.1/32",
        match="longest",
        items=[
            {
                "object_class": "route",
                "key": "172.20.0.0/24",
                "prefix": "172.20.0.0/24",
                "netname": None,
                "status": None,
                "policy": None,
                "mnt_by": ["FOO-MNT"],
                "origins": [4242429901],
                "max_length": None,
            }
        ],
        next=None,
    )

    prefix: str
    match: Match
    items: list[PrefixItem]
    next: str | None = Field(default=None, description=_NEXT)


class SearchHit(ObjectEntry):
    """One object that a search found; the lower the rank the better it fits."""

    rank: int = Field(description="0 the key itself, 1 its beginning, 2 a part, 3 in the name, 4 in the text")


class SearchPage(BaseModel):
    """Best first."""

    model_config = example(
        items=[
            {"object_class": "mntner", "key": "FOO-MNT", "title": "Foo network", "indexed": True, "rank": 0}
        ],
        next=None,
    )

    items: list[SearchHit]
    next: str | None = Field(default=None, description=_NEXT)
