"""Samples and reports over the agent's own socket, while heartbeats go on."""

from pathlib import Path
from typing import Any

from shared.protocol.frames import ErrorFrame, Ping
from shared.protocol.reports import (
    CounterReading,
    PrefixAcknowledged,
    PrefixReport,
    TrafficSample,
    pack_changes,
)
from tests.integration.control.fleet_reports import route
from tests.integration.control.probes.stage import HandClock, prepare, serving, settings_of

TABLE = [("10.1.0.0/16", [route()]), ("10.2.0.0/16", [route()])]


def report(sequence: int, **values: Any) -> PrefixReport:
    fixed = {"stream": "one", "sequence": sequence, "taken_at": HandClock()()}
    made = {**fixed, "count": len(TABLE), "payload": pack_changes(TABLE)}
    return PrefixReport.model_validate({**made, **values})


def sample(sequence: int) -> TrafficSample:
    counter = CounterReading(interface="wg-f", epoch="1", received_bytes=1000 * sequence, sent_bytes=0)
    return TrafficSample(
        stream="one",
        sequence=sequence,
        taken_at=HandClock()(),
        monotonic_seconds=30 * sequence,
        boot_id="boot",
        counters=(counter,),
    )


async def test_frames_are_taken_acknowledged_and_refused_in_order(tmp_path: Path) -> None:
    prepared = await prepare(f"sqlite:///{tmp_path / 'control.db'}")
    async with (
        serving(settings_of(prepared, tmp_path), HandClock(), prepared) as stage,
        stage.agent("alpha") as agent,
    ):
        await agent.send(report(1, begins=True))
        assert (await agent.expect(PrefixAcknowledged)).resynchronise is False
        await agent.send(report(5, base=4))
        assert (await agent.expect(PrefixAcknowledged)).resynchronise is True
        await agent.send(report(6, begins=True, payload="broken"))
        refused = await agent.expect(ErrorFrame)
        assert (refused.code, refused.ref) == ("prefix_report_refused", "prefix_report")
        for sequence in (1, 2, 2):
            await agent.send(sample(sequence))
            await agent.heartbeat()
        await agent.send(report(7, begins=True))
        assert (await agent.expect(PrefixAcknowledged)).sequence == 7
        assert agent.all(Ping) == []
        found = (await stage.request("GET", "/api/v1/nodes/alpha/traffic?range=6h")).json()
        assert found["series"][0]["total"]["received_bytes"] == 1000
        assert (await stage.request("GET", "/api/v1/routing")).json()["prefixes4"] == 2
