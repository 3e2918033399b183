"""The statements of a page do not grow with what it shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from control_server.agents.models import Agent
from control_server.desired_state.rules.inside import FleetFacts
from control_server.desired_state.rules.materialise import materialise
from control_server.desired_state.schemas import Derived
from control_server.desired_state.service import publishing
from control_server.nodes.models import Node
from control_server.peerings.models import PeeringRow
from shared.protocol.fleet import NodeKeys
from shared.protocol.frames import AgentHello
from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import OURS, PEER_KEY, match, newest, routed, text_of, wanted

SIZES = (10, 100, 1000)
#: A list of values is as long as it is, in one and the same statement.
_VALUES = re.compile(r"IN \([^()]*\)")
MINE: ContextVar[list[str] | None] = ContextVar("MINE", default=None)


@contextmanager
def counted() -> Iterator[list[str]]:
    """Every statement of whoever opens this, and of nobody beside them; opening a connection is none."""
    seen: list[str] = []
    mark = MINE.set(seen)

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if MINE.get() is seen and not statement.startswith(("PRAGMA", "BEGIN")):
            seen.append(_VALUES.sub("IN (…)", " ".join(statement.split())))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        MINE.reset(mark)


def more(*found: list[str]) -> list[str]:
    """What was asked the last time and not as often the first."""
    return list((Counter(found[-1]) - Counter(found[0])).elements())


async def filled(office: Office, node: str, already: int, size: int) -> str:
    """Give the node so many peerings; the id of one of them."""
    at = office.clock()
    async with office.resources.database.transaction() as session:
        for number in range(already, size):
            session.add(
                PeeringRow(
                    id=f"{number:012d}",
                    node_id=node,
                    name=f"p{number}x",
                    asn=4_242_420_000 + number,
                    document={
                        "link": {
                            "kind": "wireguard",
                            "interface": f"wg-p{number}x",
                            "peer_public_key": PEER_KEY,
                            "listen_port": 20_000 + number,
                        },
                        "session": {"neighbor6": f"fe80::{number + 2:x}"},
                    },
                    created_at=at,
                    updated_at=at + timedelta(seconds=number),
                )
            )
    return f"{already:012d}"


@pytest.mark.timeout(240)
async def test_pages_ask_sql_as_often_for_ten_as_for_a_thousand(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    other, _ = await routed(lite, 2)
    await wanted(lite, "POST", "/api/v1/links", json={"node_a": node, "node_b": other})
    headers = {**await signed_in(lite), "Accept": "text/html"}
    asked: dict[str, list[list[str]]] = {}
    already = 0
    for size in SIZES:
        one = await filled(lite, node, already, size)
        already = size
        await wanted(lite, "PUT", f"/api/v1/nodes/{node}/maintenance", json={"reason": f"{size} peers"})
        for path in (
            "/nodes",
            f"/nodes/{node}",
            f"/nodes/{node}/peerings",
            f"/nodes/{node}/peerings/new?asn=4242429901",
            f"/nodes/{node}/generations",
            f"/nodes/{node}/generations/1",
            f"/nodes/{node}/files",
            f"/nodes/{node}/settings",
            "/peerings/000000000000",
            "/policy",
            "/pools",
            "/links/new",
            f"/api/v1/peerings?node_id={node}",
        ):
            assert one
            with counted() as seen:
                answer = await lite.outside.get(path, headers=headers)
            assert answer.status_code == 200, f"{path} {answer.text}"
            asked.setdefault(path, []).append(seen)
    grown = {path: more(*found) for path, found in asked.items() if len(found[0]) != len(found[-1])}
    assert grown == {}


@pytest.mark.timeout(240)
async def test_publishing_asks_sql_as_often_for_ten_as_for_a_thousand(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    asked: list[list[str]] = []
    already = 0
    for size in SIZES:
        await filled(lite, node, already, size)
        already = size
        with counted() as seen:
            await wanted(lite, "PUT", f"/api/v1/nodes/{node}/maintenance", json={"reason": f"{size}"})
        asked.append(seen)
    assert len(asked[0]) == len(asked[-1]), more(*asked)


@dataclass
class Derivations:
    """Whose states were derived, and of how many nodes the facts were read for it."""

    of: list[str] = field(default_factory=list)
    read: set[int] = field(default_factory=set)

    def __call__(self, facts: FleetFacts, node_id: str) -> Derived | None:
        self.of.append(node_id)
        self.read.add(len(facts.nodes))
        return materialise(facts, node_id)


@pytest.fixture
def derivations(monkeypatch: pytest.MonkeyPatch) -> Derivations:
    found = Derivations()
    monkeypatch.setattr(publishing, "materialise", found)
    return found


async def peopled(office: Office, already: int, size: int) -> None:
    """Let the fleet have so many nodes that route, each with an agent."""
    at = office.clock()
    keys = NodeKeys(wireguard=PEER_KEY, sealing=PEER_KEY).model_dump()
    async with office.resources.database.transaction() as session:
        numbers = range(already + 1, size + 1)
        for number in numbers:
            routing = {"asn": OURS, "number": number, "loopback6": f"fd42:9900::{number}"}
            session.add(Node(id=f"r{number}", routing=routing, created_at=at, updated_at=at))
        await session.flush()
        for number in numbers:
            session.add(Agent(node_id=f"r{number}", public_key=f"key {number}", keys=keys, enrolled_at=at))


async def come(office: Office, node: str, key: str) -> None:
    """The node's agent connects and tells this key of its tunnels."""
    link = office.app.state.agent_link
    hello = AgentHello(agent_version="1", keys=NodeKeys(wireguard=key, sealing=PEER_KEY))
    connection = await link.connect(node, hello)
    await link.ready(connection)
    await link.disconnect(connection)


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("ibgp", "read"), [("full_mesh", {10, 1000}), ("reflector", {3})])
async def test_an_agent_that_comes_costs_as_much_among_ten_as_among_a_thousand(
    lite: Office, derivations: Derivations, ibgp: str, read: set[int]
) -> None:
    node, _ = await routed(lite, 1)
    other, _ = await routed(lite, 2)
    third, _ = await routed(lite, 3)
    await wanted(lite, "POST", "/api/v1/links", json={"node_a": node, "node_b": other})
    policy = {"inside": {"ibgp": ibgp, "reflectors": [third] if ibgp == "reflector" else []}}
    await wanted(lite, "PUT", "/api/v1/policy", json=policy, headers=match(0))
    untouched = await newest(lite, third)
    derivations.read.clear()
    asked: list[list[str]] = []
    already = 3
    for size in (10, 1000):
        await peopled(lite, already, size)
        already = size
        derivations.of.clear()
        key = text_of(size.to_bytes(32))
        with counted() as seen:
            await come(lite, node, key)
        asked.append(seen)
        assert sorted(derivations.of) == [node, other]
        (tunnel,) = (await newest(lite, other))["state"]["links"]
        assert tunnel["peer_public_key"] == key
    assert len(asked[0]) == len(asked[-1]), more(*asked)
    assert derivations.read == read
    assert await newest(lite, third) == untouched
