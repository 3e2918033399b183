"""What becomes of health and of scores while a tier has a fault."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from control_server.flaps.dependencies import flap_service, prefix_flaps, session_flaps
from control_server.flaps.repository import FlapTables
from control_server.flaps.schemas import ChangeKind, Heard, PrefixChange, PrefixesHeard, SubjectKind
from control_server.health.dependencies import health_of, recorder_of
from shared.protocol.fleet import Part, ProtocolState, RuntimeSnapshot, Sight

if TYPE_CHECKING:
    from tests.faults.degradation.world import World

_NODE = "alpha"
_PREFIX = "172.20.0.0/24"


async def session_charged(at: World) -> str:
    """A snapshot in which a session has come up anew is taken, and the score is read by another worker."""
    now = datetime.now(UTC)
    session = ProtocolState(
        name="f", kind="BGP", state="up", bgp_state="Established", since=now - timedelta(hours=1)
    )
    snapshot = RuntimeSnapshot(taken_at=now, routing=Part(sight=Sight.OBSERVED), protocols=(session,))
    async with at.one.database.transaction() as stored:
        await session_flaps(at.one).hear(FlapTables(stored), _NODE, snapshot, Heard(now))
    found = await flap_service(at.two).node(_NODE)
    assert [read.subject for read in found if read.kind is SubjectKind.SESSION] == ["f"]
    return await _held(at, SubjectKind.SESSION)


async def prefix_charged(at: World) -> str:
    """A prefix report is taken, and the score is read by another worker."""
    now = datetime.now(UTC)
    heard = PrefixesHeard(now, (PrefixChange(_PREFIX, ChangeKind.CHANGED, now, "f 4242429901"),), 1)
    async with at.one.database.transaction() as stored:
        await prefix_flaps(at.one).hear(FlapTables(stored), _NODE, heard, Heard(now))
    found = await flap_service(at.two).node(_NODE)
    assert [read.subject for read in found if read.kind is SubjectKind.PREFIX] == [_PREFIX]
    return await _held(at, SubjectKind.PREFIX)


async def node_judged(at: World) -> str:
    """A node is judged right after one of its reports."""
    await recorder_of(at.one).forget(_NODE)
    assert (await health_of(at.one, at.link).node(_NODE)).node_id == _NODE
    return "judged from SQL right after a report"


async def fleet_judged(at: World) -> str:
    """The fleet is judged right after a report."""
    await recorder_of(at.one).forget(_NODE)
    assert (await health_of(at.one, at.link).fleet()).total >= 1
    return "judged from SQL right after a report"


async def _held(at: World, kind: SubjectKind) -> str:
    async with at.one.database.reading() as session:
        (base,) = await FlapTables(session).list_bases(kind, [_NODE])
    if base.held_in == "kv":
        return "scores go on in the tier"
    return "scores go on in SQL, and are joined with the tier's"
