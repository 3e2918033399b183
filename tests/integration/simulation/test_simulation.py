"""A fleet that does not exist, through the real protocol: what is reported is what happened."""

import httpx2
import pytest

from routeloom.simulate.comparison import Comparison
from routeloom.simulate.plan import Fault, FaultKind, Plan, schedule
from tests.integration.simulation.conftest import Opening, differing

HOURS = Plan(nodes=2, sessions=5, prefixes=60, hours=1.6, seed=7)
#: Of every kind, close together, so that an hour and a half is enough for all of them.
FAULTS = [
    Fault(400, 0, FaultKind.SESSION_DROP, subject=0, lasts=20),
    Fault(450, 1, FaultKind.SESSION_BURST, subject=3, lasts=15),
    Fault(1000, 0, FaultKind.AGENT_CUT),
    Fault(1300, 0, FaultKind.SESSION_DROP, subject=1, lasts=400),
    Fault(2000, 0, FaultKind.COUNTER_RESET, subject=2),
    Fault(2100, 1, FaultKind.DAEMON_RESTART, lasts=12),
    Fault(2400, 0, FaultKind.HOST_REBOOT, lasts=45),
    Fault(2750, 1, FaultKind.NODE_DROP, lasts=60),
    Fault(3000, 0, FaultKind.AGENT_RESTART, lasts=30),
    Fault(3400, 0, FaultKind.CLOCK_STEP, lasts=690, size=600),
    Fault(3450, 1, FaultKind.COUNTER_BACK, subject=1),
    Fault(3700, 1, FaultKind.AGENT_AWAY, lasts=540),
    Fault(4500, -1, FaultKind.SERVER_RESTART),
    Fault(4800, 0, FaultKind.SESSION_DROP, subject=2, lasts=90),
    Fault(5000, 1, FaultKind.SESSION_DROP, subject=0, lasts=400),
]
DAY = Plan(nodes=3, sessions=6, prefixes=500, hours=24, seed=11)
COMPARED = {
    *("liveness", "false downs", "sessions established", "frames refused", "flaps"),
    *("falls of most sessions", "false losses", "bytes", "prefixes", "routes"),
}


async def test_hours_with_faults_are_reported_as_they_were(opened: Opening) -> None:
    assert {fault.kind for fault in FAULTS} == set(FaultKind)
    async with opened(HOURS) as stage:
        stage.simulation.faults = FAULTS
        findings = await stage.simulation.run()
    assert differing(findings) == []
    assert {finding.what for finding in findings} == COMPARED | {"downs"}
    assert sum(stage.simulation.truth.session_flaps.values()) == 8
    assert sum(stage.simulation.truth.node_flaps.values()) == 1
    assert all(volume.received > 0 for volume in stage.simulation.truth.volumes().values())


async def test_a_difference_is_found(opened: Opening) -> None:
    async with opened(Plan(nodes=1, sessions=3, prefixes=20, hours=0.2, faults=frozenset())) as stage:
        assert differing(await stage.simulation.run()) == []
        truth = stage.simulation.truth
        truth.session_flaps["sim001", "peer02"] += 1
        truth.meter("sim001", "eth0").told.received += 1
        async with httpx2.AsyncClient(
            base_url=stage.server.url,
            headers={"Authorization": f"Bearer {stage.server.token}"},
            trust_env=False,
        ) as api:
            comparison = Comparison(stage.simulation.plan, truth, api)
            await comparison.look_at_the_end(stage.simulation.nodes, [])
        assert [(each.what, each.where) for each in differing(comparison.findings)] == [
            ("flaps", "sim001 peer02"),
            ("bytes", "sim001 eth0"),
        ]


@pytest.mark.soak
@pytest.mark.timeout(5400)
async def test_a_day_with_faults_is_reported_as_it_was(opened: Opening) -> None:
    assert {fault.kind for fault in schedule(DAY)} == set(FaultKind)
    async with opened(DAY) as stage:
        findings = await stage.simulation.run()
    assert differing(findings) == []
