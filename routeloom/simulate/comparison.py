"""What the server reports beside what really happened, asked over its API as anybody else would."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from routeloom.simulate.enrolling import ServerRefused
from routeloom.simulate.routes import prefix_name, validity_of
from shared.protocol.reports import Validity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import httpx2

    from routeloom.simulate.node import SimulatedNode
    from routeloom.simulate.plan import Plan
    from routeloom.simulate.truth import Truth
    from shared.protocol.frames import ErrorFrame

#: A node that is silent for longer must be down, and not before.
_SURELY_OFFLINE = 300
_DAY_HOURS = 24
_MOST_TRANSITIONS = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was compared."""

    what: str
    where: str
    expected: object
    reported: object

    @property
    def agrees(self) -> bool:
        """Whether both are the same."""
        return self.expected == self.reported


@dataclass
class Comparison:
    """Collects findings."""

    plan: Plan
    truth: Truth
    api: httpx2.AsyncClient
    findings: list[Finding] = field(default_factory=list)

    async def look_at_health(self, nodes: Sequence[SimulatedNode], at: int) -> None:
        """Whoever speaks is online, whoever is silent for long is down, and sessions are counted."""
        fleet = await self._get("/api/v1/health")
        told = {node["node_id"]: node for node in fleet["nodes"]}
        for node in nodes:
            silent = at - self.truth.silent_since.get(node.name, at)
            said = told.get(node.name, {})
            where = f"{node.name} at {at} s"
            if silent <= _SURELY_OFFLINE:
                self._note("false downs", where, 0, int(said.get("state") == "down"))
            else:
                self._note("downs", where, ("offline", "down"), (said.get("liveness"), said.get("state")))
            if node.name not in self.truth.silent_since:
                self._note("liveness", where, "online", said.get("liveness"))
                sessions = said.get("sessions", {})
                self._note("sessions established", where, node.sessions_told, sessions.get("established"))

    async def look_at_the_end(self, nodes: Sequence[SimulatedNode], refused: Sequence[ErrorFrame]) -> None:
        """Flaps, traffic and routes of the whole run."""
        self._note("frames refused", "everywhere", [], [f"{each.ref}: {each.detail}" for each in refused])
        for node in nodes:
            await self._compare_flaps(node)
            await self._compare_incidents(node)
            await self._compare_traffic(node)
            await self._compare_routes(node)
        await self._compare_fleet(nodes)

    async def _compare_flaps(self, node: SimulatedNode) -> None:
        wanted = {"node_id": node.name, "limit": _MOST_TRANSITIONS}
        found = await self._get("/api/v1/flaps/transitions", wanted)
        charged = Counter((each["kind"], each["subject"]) for each in found if each["weight"])
        for session in node.sessions:
            expected = self.truth.session_flaps[node.name, session.name]
            self._note("flaps", f"{node.name} {session.name}", expected, charged["session", session.name])
        falls = self.truth.node_flaps[node.name]
        self._note("falls of most sessions", node.name, falls, charged["node", ""])

    async def _compare_incidents(self, node: SimulatedNode) -> None:
        if node.name not in self.truth.long_silent:
            found = await self._get("/api/v1/incidents", {"node_id": node.name, "limit": 500})
            lost = sum(each["kind"] == "node_lost" for each in found["items"])
            self._note("false losses", node.name, 0, lost)

    async def _compare_traffic(self, node: SimulatedNode) -> None:
        whole = "24h" if self.plan.hours < _DAY_HOURS else "7d"
        found = await self._get(f"/api/v1/nodes/{node.name}/traffic/links", {"range": whole})
        reported = {item["interface"]: item for item in found["items"] if not item["peer"]}
        for (name, interface), volume in self.truth.volumes().items():
            if name == node.name:
                said = reported.get(interface, {})
                pair = (said.get("received_bytes"), said.get("sent_bytes"))
                self._note("bytes", f"{name} {interface}", (volume.received, volume.sent), pair)

    async def _compare_routes(self, node: SimulatedNode) -> None:
        found = await self._get(f"/api/v1/nodes/{node.name}/routing")
        known = node.table.known(node.up)
        self._note("prefixes", node.name, _by_family(known), (found["prefixes4"], found["prefixes6"]))
        routes = [route for index in known for route in node.table.routes(index, node.up)]
        filtered = sum(route.filtered for route in routes)
        self._note("routes", node.name, (len(routes), filtered), (found["routes"], found["filtered"]))

    async def _compare_fleet(self, nodes: Sequence[SimulatedNode]) -> None:
        found = await self._get("/api/v1/routing")
        known = {index for node in nodes for index in node.table.known(node.up)}
        self._note("prefixes", "fleet", _by_family(known), (found["prefixes4"], found["prefixes6"]))

    def _note(self, what: str, where: str, expected: object, reported: object) -> None:
        self.findings.append(Finding(what, where, expected, reported))

    async def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        answer = await self.api.get(path, params=dict(query or {}))
        if not answer.is_success:
            raise ServerRefused(f"{path} answered {answer.status_code}: {answer.text[:300]}")
        return answer.json()


def _by_family(indexes: Iterable[int]) -> tuple[int, int]:
    """Prefixes of IPv4 and IPv6 that have a route which no filter refused."""
    usable = {index for index in indexes if validity_of(index) is not Validity.INVALID}
    names = {prefix_name(index) for index in usable}
    six = sum(":" in name for name in names)
    return len(names) - six, six
