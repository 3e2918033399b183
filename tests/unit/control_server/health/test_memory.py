"""A judgement that is used again is the one that judging anew would give."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from control_server.health.repository import JudgedBy
from control_server.health.rules.findings import issues_of
from control_server.health.rules.judging import judge, outlook
from control_server.health.schemas import (
    ApplyFacts,
    DriftFacts,
    NodeView,
    ReportFacts,
    State,
    Stood,
)
from control_server.health.service.memory import Memory
from tests.unit.control_server.health.test_judging import NOW, OWN, ago, protocol, routing, view

_INSTANTS = st.sampled_from([None, ago(hours=3), ago(minutes=20), ago(seconds=200), ago(seconds=10)])
_FACTS = st.sampled_from(
    [
        ReportFacts(),
        ReportFacts(routing=routing(protocol("f"), protocol("g", "Idle"), at=ago(minutes=14))),
        ReportFacts(routing=routing(protocol("own", "Idle", asn=OWN), at=ago(seconds=10))),
        ReportFacts(apply=ApplyFacts(generation=1, status="failed", detail="no", at=ago(hours=1))),
        ReportFacts(drift=DriftFacts(count=2, first="wg0", since=ago(hours=2))),
    ]
)
_FIELDS: Mapping[str, st.SearchStrategy[Any]] = {
    "site": st.sampled_from(["", "Frankfurt"]),
    "desired": st.integers(0, 2),
    "changed_at": st.sampled_from([ago(days=1), ago(seconds=140), ago(seconds=10)]),
    "maintenance_reason": st.sampled_from([None, "", "disk"]),
    "maintenance_since": _INSTANTS,
    "liveness": st.sampled_from(["online", "stale", "offline", "unknown"]),
    "heard_at": _INSTANTS,
    "connected_at": _INSTANTS,
    "memory_share": st.sampled_from([None, 0.2, 0.4, 0.96, 0.98]),
    "facts": _FACTS,
    "stood": st.sampled_from(
        [
            {},
            {"overall": Stood(state=State.OK, since=ago(days=2))},
            {"link": Stood(state=State.STALE, since=NOW)},
        ]
    ),
    "routes": st.booleans(),
}
_LATER = st.sampled_from([timedelta(0), timedelta(seconds=15), timedelta(minutes=2), timedelta(hours=1)])


@given(first=st.fixed_dictionaries({**_FIELDS}), changes=st.data(), later=_LATER)
def test_what_looks_the_same_is_judged_the_same(
    first: dict[str, Any], changes: st.DataObject, later: timedelta
) -> None:
    name = changes.draw(st.sampled_from(sorted(_FIELDS)))
    then, again = view(**first), view(**first | {name: changes.draw(_FIELDS[name])})
    if outlook(then, NOW) == outlook(again, NOW + later):
        assert said(then, NOW) == said(again, NOW + later)


def test_a_node_that_is_well_looks_the_same_for_as_long_as_it_is_heard() -> None:
    later = NOW + timedelta(seconds=30)
    assert outlook(view(), NOW) == outlook(view(heard_at=later, memory_share=0.5), later)


def said(node: NodeView, now: datetime) -> tuple[Any, Any]:
    health = judge(node, now)
    return health, issues_of(node, health, now)


class TestMemory:
    def test_judges_once_what_looks_the_same(self) -> None:
        memory = Memory()
        first = memory.judged(view(), NOW)
        assert memory.judged(view(heard_at=ago(seconds=5), facts=view().facts), NOW) == first

    def test_judges_anew_what_looks_different(self) -> None:
        memory = Memory()
        assert memory.judged(view(), NOW).health.state is State.OK
        assert memory.judged(view(liveness="offline"), NOW).health.state is State.DOWN
        assert memory.judged(view(), NOW).health.state is State.OK

    def test_judges_anew_once_a_snapshot_is_too_old(self) -> None:
        memory, seen = Memory(), view()
        assert memory.judged(seen, NOW).health.sessions.established == 2
        assert memory.judged(seen, NOW + timedelta(hours=1)).health.sessions.unknown == 2

    def test_parses_a_document_once_and_again_when_it_is_another(self) -> None:
        memory, drift = Memory(), '{"drift": {"count": 1, "since": "2030-01-02T12:00:00Z"}}'
        assert memory.documents(row()) is memory.documents(row())
        assert memory.documents(row(facts=drift)).facts.drift is not None
        assert memory.documents(row()).facts.drift is None

    def test_forgets_nodes_that_are_gone(self) -> None:
        memory = Memory()
        kept = memory.documents(row())
        memory.keep_only({"r2"})
        assert memory.documents(row()) is not kept


def row(facts: str | None = "{}") -> JudgedBy:
    return JudgedBy("r1", "", 0, NOW, True, "null", facts, None)
