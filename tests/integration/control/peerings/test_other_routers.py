"""FRR and OpenBGPD reach Established with a node's own BIRD by what the portal tells their operators."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from control_server.agents.models import Agent
from shared.protocol.desired_state.document import DesiredState
from tests.integration.agent.apply.routers import Router, eventually, join, router
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import newest, peering, routed, wanted
from tests.integration.control.peerings.other_routers import OWN4, OWN6, Foreign, foreign_router
from tests.journeys.namespaces import Namespace, namespace

FAST = {"connect_retry": 1, "error_wait": [1, 2], "hold": 9, "keepalive": 3}
OURS4, OURS6 = "172.20.99.0/26", "fd42:9900::/48"
SECRET = "not-to-be-guessed"
CASES: dict[str, dict[str, Any]] = {
    "link-local": {"session": {"neighbor6": "fe80::801"}},
    "a session a family": {
        "session": {
            "mode": "split",
            "neighbor4": "172.20.98.2",
            "neighbor6": "fe80::801",
            "options": {"ttl_security": True},
        },
        "addresses": [{"address": "172.20.98.1/30"}],
        "password": SECRET,
    },
}


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Router]:
    with router("r1", 1, tmp_path) as opened:
        yield opened


@pytest.fixture
def place() -> Iterator[Namespace]:
    with namespace("foreign") as opened:
        yield opened


async def published(lite: Office, node: Router, case: dict[str, Any]) -> dict[str, str]:
    """Our side runs the peering; what stands on its page for the other side."""
    name, _ = await routed(lite, 1)
    async with lite.resources.database.transaction() as session:
        agent = await session.get_one(Agent, name)
        agent.keys = node.keys.public.model_dump()
    session_facts = {**case["session"], "options": {**case["session"].get("options", {}), "timers": FAST}}
    link = {"kind": "plain", "interface": "eth-f", "addresses": case.get("addresses", [])}
    body = {**peering(name), "link": link, "session": session_facts}
    made = await wanted(lite, "POST", "/api/v1/peerings", json={**body, **_password(case)})
    said = node.apply(DesiredState.model_validate((await newest(lite, name))["state"]))
    assert said.errors == []
    told = await wanted(lite, "GET", f"/api/v1/peerings/{made['id']}/other-side")
    mark = "THE-PASSWORD-THAT-WE-SHARE"
    return {kind: told[kind].replace(mark, SECRET) for kind in ("frr", "openbgpd")}


def _password(case: dict[str, Any]) -> dict[str, str]:
    return {"password": case["password"]} if "password" in case else {}


def cabled(node: Router, place: Namespace, case: dict[str, Any], directory: Path) -> None:
    """The cable between the two, with what the text says of the neighbour's own addresses."""
    other = Router("foreign", place, directory, node.bird)
    join(node, other, ("eth-f", "wg-r1"))
    place.run("ip", "address", "add", "fe80::801/64", "dev", "wg-r1", "nodad")
    if "addresses" in case:
        place.run("ip", "address", "add", "172.20.98.2/30", "dev", "wg-r1")


def exchanged(node: Router, other: Foreign, prefixes: tuple[str, ...]) -> None:
    """Each has the other's prefixes of the families that are named by ours."""
    for ours in prefixes:
        theirs = OWN6 if ":" in ours else OWN4
        try:
            eventually(partial(learned, node, theirs), f"we know {theirs}")
            eventually(partial(other.knows, ours), f"the neighbour knows {ours}")
        except AssertionError as failure:
            failure.add_note(other.log())
            raise


def learned(node: Router, prefix: str) -> bool:
    return "rl_f" in node.ask(f"show route {prefix}")


@pytest.mark.parametrize("case", CASES)
async def test_frr_reaches_established(
    lite: Office, node: Router, place: Namespace, tmp_path: Path, case: str
) -> None:
    cabled(node, place, CASES[case], tmp_path)
    with foreign_router("frr", place) as other:
        other.paste(await published(lite, node, CASES[case]))
        exchanged(node, other, (OURS4, OURS6))


@pytest.mark.parametrize("case", CASES)
async def test_openbgpd_reaches_established(
    lite: Office, node: Router, place: Namespace, tmp_path: Path, case: str
) -> None:
    cabled(node, place, CASES[case], tmp_path)
    with foreign_router("openbgpd", place) as other:
        other.paste(await published(lite, node, CASES[case]))
        # Over one session of IPv6, it carries IPv6 alone: the text says so.
        exchanged(node, other, (OURS6,) if case == "link-local" else (OURS4, OURS6))
