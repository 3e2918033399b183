"""What look-ups answer."""

from registry_server.lookup.schemas.catalogue import (
    AttributeRead,
    BacklinkPage,
    ObjectEntry,
    ObjectPage,
    ObjectRead,
    ProblemPage,
    ProblemRead,
    ReferenceRead,
)
from registry_server.lookup.schemas.connections import Connection, ConnectionStep
from registry_server.lookup.schemas.finding import Match, PrefixAnswer, PrefixItem, SearchHit, SearchPage
from registry_server.lookup.schemas.records import (
    AsnRecord,
    AuthRecord,
    IdentityMaterial,
    MntnerRecord,
    RouteRecord,
    RoutesRecord,
)
from registry_server.lookup.schemas.sets import AsSetExpansion

__all__ = [
    "AsSetExpansion",
    "AsnRecord",
    "AttributeRead",
    "AuthRecord",
    "BacklinkPage",
    "Connection",
    "ConnectionStep",
    "IdentityMaterial",
    "Match",
    "MntnerRecord",
    "ObjectEntry",
    "ObjectPage",
    "ObjectRead",
    "PrefixAnswer",
    "PrefixItem",
    "ProblemPage",
    "ProblemRead",
    "ReferenceRead",
    "RouteRecord",
    "RoutesRecord",
    "SearchHit",
    "SearchPage",
]
