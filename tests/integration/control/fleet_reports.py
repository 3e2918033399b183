"""Nodes whose agents report counters and routes over HTTP, as the test says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx2

from shared.protocol.reports import CounterReading, PrefixReport, Route, TrafficSample, Validity, pack_changes
from tests.integration.control.enrolment.office import Machine, Office

PEER = 4242429901
ORIGIN = 4242429955


def route(protocol: str = "rl_f", **values: Any) -> Route:
    """A best route by a peer, unless `values` say otherwise."""
    made = Route(
        protocol=protocol,
        ordinal=0,
        best=True,
        filtered=False,
        reason=None,
        origin=ORIGIN,
        path=f"{PEER} {ORIGIN}",
        hops=2,
        validity=Validity.VALID,
        next_hop="fe80::1",
        local_pref=100,
        since=None,
    )
    return made._replace(**values)


@dataclass
class ReportingNode:
    """An agent in the test's hands."""

    office: Office
    node_id: str
    token: str
    stream: str = "one"
    sequence: int = 0
    samples: int = 0
    monotonic: float = 1000.0
    boot_id: str = "boot"
    counters: dict[str, int] = field(default_factory=dict)

    async def post(self, path: str, body: str) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        return await self.office.outside.post(f"/api/v1/agent/reports/{path}", content=body, headers=headers)

    # --- routes

    def report(self, changes: dict[str, list[Route]], **values: Any) -> PrefixReport:
        """The next report, as an honest agent makes it."""
        base, self.sequence = self.sequence, self.sequence + 1
        made = {
            "stream": self.stream,
            "sequence": self.sequence,
            "base": base,
            "count": len(changes),
            "taken_at": self.office.clock(),
            "payload": pack_changes(list(changes.items())),
        }
        return PrefixReport.model_validate({**made, **values})

    async def send(self, report: PrefixReport) -> dict[str, Any]:
        answer = await self.post("prefixes", report.model_dump_json())
        assert answer.status_code == 200, answer.text
        acknowledged: dict[str, Any] = answer.json()
        return acknowledged

    async def tell_whole(self, table: dict[str, list[Route]], **values: Any) -> dict[str, Any]:
        return await self.send(self.report(table, begins=True, **values))

    async def tell(self, changes: dict[str, list[Route]], **values: Any) -> dict[str, Any]:
        return await self.send(self.report(changes, **values))

    # --- counters

    def sample(self, *, after: float = 30, **counters: int) -> TrafficSample:
        """The next sample; counters that are not named stay as they are. `_` stands for `-` in names."""
        self.samples += 1
        self.monotonic += after
        self.counters |= {name.replace("_", "-"): value for name, value in counters.items()}
        readings = [
            CounterReading(
                interface=name,
                epoch=f"{self.boot_id}:{name}",
                received_bytes=value,
                sent_bytes=0,
                kind="tunnel",
            )
            for name, value in self.counters.items()
        ]
        return TrafficSample(
            stream=self.stream,
            sequence=self.samples,
            taken_at=self.office.clock(),
            monotonic_seconds=self.monotonic,
            boot_id=self.boot_id,
            counters=tuple(readings),
        )

    async def count(self, **counters: Any) -> None:
        """Take a sample and send it."""
        await self.send_sample(self.sample(**counters))

    async def send_sample(self, sample: TrafficSample) -> None:
        answer = await self.post("traffic", sample.model_dump_json())
        assert answer.status_code == 204, answer.text


async def reporting(office: Office, node_id: str = "edge1") -> ReportingNode:
    """A node with an enrolled agent."""
    answer = await office.enrol(Machine(hostname=node_id), await office.token(node_id=node_id))
    assert answer.status_code in {200, 201}, answer.text
    return ReportingNode(office, node_id, answer.json()["agent_token"])
