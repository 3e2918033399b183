"""What `show route`, with `all` or without, says of each route, line by line, so that no table is held whole.

Seen on 2.0.12 and 2.17; attributes have other names from 3.0 on, and mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import ip_network

from node_agent.bird.framing import Line
from node_agent.bird.times import Since, take_since

_ROUTE = 1007
_ATTRIBUTES = frozenset({1007, 1008, 1012})
_ROW = re.compile(
    r"^(?P<prefix>\S+)?\s+(?P<kind>[a-z]+) \[(?P<source>[^\]]+)\](?P<marks>[ *!?]*)"
    r"\((?P<preference>\d+)(?:/[^)]*)?\)(?: \[(?P<origin>[^\]]*)\])?"
)
_ORIGIN = re.compile(r"^AS(\d+)")
_LARGE = re.compile(r"\((\d+), ?(\d+), ?(\d+)\)")
_ROA = re.compile(r"^(?P<prefix>[0-9a-fA-F.:]+/\d+)-(?P<longest>\d+) AS(?P<asn>\d+)\s")
_ATTRIBUTE = re.compile(r"^\s+(?P<name>[A-Za-z][\w.]*): ?(?P<value>.*)$")
_CUT = "..."


@dataclass(slots=True)
class RouteSeen:
    """One route. Attributes are there only where `all` was asked for."""

    prefix: str
    kind: str
    protocol: str
    since: Since
    best: bool
    preference: int
    #: From the mark behind the route, which is never cut as a long path is.
    origin: int | None
    gateway: str = ""
    #: By the names of 2.x, in lower case, without `bgp.`.
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The AS path as BIRD prints it; a long one is cut."""
        return self.attributes.get("as_path", "")

    @property
    def hops(self) -> int | None:
        """Numbers on the path, a set counting once; None where the path is cut or there is none."""
        path = self.path
        if "as_path" not in self.attributes or _CUT in path:
            return None
        return len(re.sub(r"\{[^}]*\}", "0", path).split())

    @property
    def next_hop(self) -> str:
        """Where packets go; of two addresses the one of the link."""
        words = self.attributes.get("next_hop", "").split()
        return words[-1] if words else self.gateway

    @property
    def local_pref(self) -> int | None:
        """Only of routes by BGP."""
        value = self.attributes.get("local_pref", "")
        return int(value) if value.isdecimal() else None

    def large(self, first: int, second: int) -> int | None:
        """The last part of the large community that begins so; None without one."""
        for one, two, three in _LARGE.findall(self.attributes.get("large_community", "")):
            if (int(one), int(two)) == (first, second):
                return int(three)
        return None


@dataclass(frozen=True, slots=True)
class RoaSeen:
    """One authorisation to originate a prefix (RFC 6482)."""

    prefix: str
    longest: int
    asn: int


class RouteReader:
    """Takes lines, and gives each route when the next one begins."""

    def __init__(self, now: datetime) -> None:
        """`now` is aware, in BIRD's own zone."""
        self._now = now
        self._prefix = ""
        self._route: RouteSeen | None = None
        self._last_attribute = ""

    def feed(self, line: Line) -> RouteSeen | None:
        """Take a line; the route before it, if this one begins another."""
        if line.code not in _ATTRIBUTES:
            return None
        row = _ROW.match(line.text) if line.code == _ROUTE and not line.text.startswith("\t") else None
        if row is not None:
            done, self._route = self._route, self._begin(row)
            self._last_attribute = ""
            return done
        if self._route is not None:
            self._add(self._route, line.text)
        return None

    def end(self) -> RouteSeen | None:
        """There is no more; the last route."""
        done, self._route = self._route, None
        return done

    def _begin(self, row: re.Match[str]) -> RouteSeen:
        self._prefix = row["prefix"] or self._prefix
        name, *words = row["source"].split()
        since, _ = take_since(words, self._now)
        origin = _ORIGIN.match(row["origin"] or "")
        return RouteSeen(
            prefix=self._prefix,
            kind=row["kind"],
            protocol=name,
            since=since,
            best="*" in row["marks"],
            preference=int(row["preference"]),
            origin=int(origin[1]) if origin else None,
        )

    def _add(self, route: RouteSeen, text: str) -> None:
        if text.startswith("\tvia "):
            route.gateway = route.gateway or text.split()[1]
        elif text.startswith("\t\t") and self._last_attribute:
            route.attributes[self._last_attribute] += f" {text.strip()}"
        elif (found := _ATTRIBUTE.match(text)) is not None:
            self._last_attribute = _name(found["name"])
            route.attributes[self._last_attribute] = found["value"].strip()


def read_routes(lines: Iterable[Line], now: datetime) -> Iterator[RouteSeen]:
    """Every route of these lines."""
    reader = RouteReader(now)
    for line in lines:
        if (done := reader.feed(line)) is not None:
            yield done
    if (last := reader.end()) is not None:
        yield last


def read_roa(line: Line) -> RoaSeen | None:
    """The authorisation on a line; None where there is none."""
    found = _ROA.match(line.text) if line.code == _ROUTE else None
    if found is None:
        return None
    return RoaSeen(str(ip_network(found["prefix"])), int(found["longest"]), int(found["asn"]))


def _name(text: str) -> str:
    name = text.lower().removeprefix("bgp.").removeprefix("bgp_")
    return "as_path" if name == "path" else name
