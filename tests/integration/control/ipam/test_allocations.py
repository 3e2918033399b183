"""Pools: what many ask for at once is given to each of them once; their forms lose nothing."""

from __future__ import annotations

import asyncio
import base64
import os
import re
from typing import Any

import pytest

from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.test_pages import form_of
from tests.integration.control.fleet.yard import match, peering, routed, wanted

MANY = 50


async def insisted(office: Office, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to whoever comes again when told that too many write just now."""
    for _ in range(20):
        answer = await office.admin.post(path, json=body)
        if answer.status_code != 503:
            break
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def some_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


@pytest.mark.timeout(240)
async def test_fifty_who_ask_at_once_get_fifty_ports_and_no_port_twice(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    pool = {"name": "ports", "kind": "wireguard_port", "range": "51820-51899"}
    await wanted(office, "POST", "/api/v1/pools", json=pool)

    async def one(number: int) -> int:
        link = {"kind": "wireguard", "peer_public_key": some_key()}
        body = peering(node, f"p{number}x", link=link, session={"neighbor6": f"fe80::{number + 2:x}"})
        return int((await insisted(office, "/api/v1/peerings", body))["link"]["listen_port"])

    given = await asyncio.gather(*(one(number) for number in range(MANY)))
    assert sorted(given) == list(range(51820, 51820 + MANY))
    held = await wanted(office, "GET", "/api/v1/pools/ports/allocations")
    assert held["total"] == MANY
    assert len({entry["holder"] for entry in held["items"]}) == MANY


@pytest.mark.timeout(240)
async def test_fifty_nodes_at_once_get_loopbacks_and_numbers_of_their_own(on_each_database: Office) -> None:
    office = on_each_database
    for name, kind, extent in (
        ("four", "loopback4", "172.20.99.0/25"),
        ("six", "loopback6", "fd42:9900::/64"),
        ("numbers", "node_number", "1-99"),
    ):
        await wanted(office, "POST", "/api/v1/pools", json={"name": name, "kind": kind, "range": extent})

    async def one(number: int) -> dict[str, str]:
        body = {"node_id": f"n{number}", "routing": {"asn": 4242429900}}
        await insisted(office, "/api/v1/nodes", body)
        found: dict[str, str] = (await wanted(office, "GET", f"/api/v1/nodes/n{number}/facts"))["routing"]
        return found

    facts = await asyncio.gather(*(one(number) for number in range(MANY)))
    for name in ("loopback4", "loopback6", "number"):
        assert len({routing[name] for routing in facts}) == MANY


async def test_a_pool_is_made_widened_and_removed_by_forms(lite: Office) -> None:
    headers = await signed_in(lite)
    node, _ = await routed(lite, 1)

    async def post(path: str, **typed: str) -> tuple[int, str]:
        answer = await lite.outside.post(path, data=typed, headers=headers)
        return answer.status_code, answer.text

    typed = {"name": "ports", "kind": "wireguard_port", "range": "60000-60000"}
    refused = await post("/pools", **{**typed, "range": "many"})
    assert refused[0] == 422
    assert 'value="many"' in refused[1]
    assert (await post("/pools", **typed))[0] == 303
    link = {"kind": "wireguard", "peer_public_key": some_key()}
    await wanted(lite, "POST", "/api/v1/peerings", json=peering(node, link=link))
    page = (await lite.outside.get("/pools/ports", headers=headers)).text
    assert re.search(r'60000.*href="/peerings/', page, re.DOTALL)
    stale = form_of(page, "/pools/ports")
    outside = await post("/pools/ports", **{**stale, "range": "60001-60002"})
    assert outside[0] == 409
    assert "is outside of that range" in outside[1]
    assert (await post("/pools/ports", **{**stale, "range": "60000-60009"}))[0] == 303
    both = await post("/pools/ports", **{**stale, "range": "60000-60020"})
    assert both[0] == 409
    for text in ("Both versions", "60000-60009", "60000-60020"):
        assert text in both[1]
    assert (await post("/pools/ports", **form_of(both[1], "/pools/ports")))[0] == 303
    kept = await wanted(lite, "GET", "/api/v1/pools/ports")
    assert (kept["range"], kept["used"], kept["version"]) == ("60000-60020", 1, 3)
    changed = {"range": "60000-60030"}
    path = "/api/v1/pools/ports"
    assert (await lite.admin.patch(path, json=changed, headers=match(1))).status_code == 409
    assert (await lite.admin.patch(path, json={"range": "x"}, headers=match(3))).status_code == 422
    assert (await post("/pools/ports/delete"))[0] == 409
    assert "/pools/ports" in (await lite.outside.get("/pools", headers=headers)).text
