"""From stored attributes to what a look-up answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from registry_server.lookup.schemas import (
    AsnRecord,
    AuthRecord,
    MntnerRecord,
    RouteRecord,
    RoutesRecord,
)
from registry_server.objects.rules.auth import is_commented_out, parse_auth
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
