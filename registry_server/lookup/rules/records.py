"""From stored attributes to what a look-up answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from registry_server.lookup.rules.stored import StoredObject, StoredRoute
from registry_server.lookup.schemas import (
    AsnRecord,
    AuthRecord,
    MntnerRecord,
    RouteRecord,
    RoutesRecord,
)
from registry_server.objects.rules.auth import is_commented_out, parse_auth


def asn_record(number: int, found: StoredObject) -> AsnRecord:
    """The answer about an AS number."""
    return AsnRecord(
        asn=number, as_name=found.first("as-name"), member_of=found.words("member-of"), **_shared(found)
    )


def mntner_record(found: StoredObject, asns: Iterable[int]) -> MntnerRecord:
    """The answer about a maintainer; a key that was commented out is none."""
    methods = [parse_auth(value) for value in found.values("auth") if value and not is_commented_out(value)]
    auth = [AuthRecord(method=method, value=value, raw=raw) for method, value, raw in methods]
    return MntnerRecord(mntner=found.key, auth=auth, asns=list(asns), **_shared(found))


def routes_record(
    number: int, routes: Iterable[StoredRoute], maintainers: dict[int, list[str]]
) -> RoutesRecord:
    """The answer about an origin; two objects that say the same are told once."""
    distinct: dict[tuple[str, int | None], list[str]] = {}
    for route in routes:
        known = distinct.setdefault((route.prefix, route.max_length), [])
        known += [name for name in maintainers.get(route.object_id, ()) if name not in known]
    return RoutesRecord(
        origin=number,
        routes=[
            RouteRecord(prefix=prefix, max_length=max_length, mnt_by=names)
            for (prefix, max_length), names in distinct.items()
        ],
    )


def _shared(found: StoredObject) -> dict[str, Any]:
    return {
        "path": found.path,
        "descr": found.values("descr"),
        "mnt_by": found.words("mnt-by"),
        "admin_c": found.words("admin-c"),
        "tech_c": found.words("tech-c"),
        "org": next(iter(found.words("org")), None),
        "source": found.first("source"),
        "raw": found.raw.decode(errors="replace"),
    }
