"""`routeloom peerings`, `generations`, `maintenance` and `policy` against a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from typer.testing import CliRunner

from routeloom.cli.main import app as command_line
from shared.testing.waiting import wait_until
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import PEER_KEY, newest, routed, wanted

ADD = ("--asn", "4242429801", "--public-key", PEER_KEY, "--neighbor", "fe80::801")


@dataclass
class Shell:
    """A terminal that knows the server."""

    office: Office
    environment: dict[str, str]

    async def run(self, *words: str, status: int = 0) -> str:
        invoked = await asyncio.to_thread(
            CliRunner().invoke, command_line, [*words], env={**self.environment, "COLUMNS": "200"}
        )
        assert invoked.exit_code == status, (invoked.output, invoked.exception)
        return invoked.stdout if status == 0 else invoked.output

    async def json(self, *words: str) -> Any:
        return json.loads(await self.run(*words, "--json"))


@pytest.fixture
async def shell(lite: Office, tmp_path: Path) -> AsyncIterator[Shell]:
    config = uvicorn.Config(lite.app, host="127.0.0.1", port=0, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    try:
        await wait_until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        token = (tmp_path / "admin-token").read_text()
        home = tmp_path / "home"
        yield Shell(
            lite,
            {
                "ROUTELOOM_URL": f"http://localhost:{port}",
                "ROUTELOOM_TOKEN": token,
                "ROUTELOOM_HOME": str(home),
            },
        )
    finally:
        server.should_exit = True
        await running


async def test_a_peering_from_its_preview_to_its_end(shell: Shell) -> None:
    node, _ = await routed(shell.office, 1)
    assert "No peering yet" in await shell.run("peerings", "list")
    preview = await shell.run("peerings", "add", node, "f", *ADD, "--preview")
    assert "generation 2 would be published" in preview
    assert "+protocol bgp rl_f" in preview
    assert (await shell.json("peerings", "list"))["total"] == 0
    ident = (await shell.run("peerings", "add", node, "f", *ADD)).strip()
    assert "AS4242429801" in await shell.run("peerings", "list", "--node", node)
    shown = await shell.run("peerings", "show", ident)
    assert "fe80::801" in shown
    assert "Endpoint = r1.example:29801" in shown
    for router, line in (("bird", "protocol bgp"), ("frr", "router bgp"), ("openbgpd", "remote-as")):
        told = await shell.run("peerings", "show", ident, "--other-side", "--for", router)
        assert "[Interface]" in told
        assert line in told
    changed = await shell.json("peerings", "change", ident, "--prepend", "2", "--import-limit", "60")
    assert changed["session"]["policy"]["prepend"] == 2
    assert changed["session"]["policy"]["import_limit"] == {"prefixes": 60, "action": "block"}
    would = await shell.run("peerings", "change", ident, "--disable", "--preview")
    assert "-protocol bgp rl_f" in would
    await shell.run("peerings", "change", ident, "--disable")
    assert (await newest(shell.office, node))["state"]["peerings"] == []
    assert "Nothing would change" in await shell.run("peerings", "delete", ident, "--preview")
    assert "is deleted" in await shell.run("peerings", "delete", ident)
    assert (await shell.json("peerings", "list"))["total"] == 0


async def test_a_node_from_its_first_fact_to_its_end(shell: Shell) -> None:
    facts = ["--asn", "4242429900", "--number", "7", "--router-id", "172.20.99.7"]
    places = ["--loopback", "172.20.99.7", "--loopback", "fd42:9900::7", "--endpoint", "2001:db8::7"]
    prefixes = ["--prefix", "172.20.99.0/27", "--prefix", "172.20.99.32/27", "--prefix", "fd42:9900::/48"]
    add = ["nodes", "add", "ber1", "--site", "Berlin", *facts, *places, *prefixes]
    assert "generation 1 would be published" in await shell.run(*add, "--preview")
    assert "is added" in await shell.run(*add)
    shown = await shell.json("nodes", "show", "ber1")
    assert shown["routing"]["prefixes4"] == ["172.20.99.0/27", "172.20.99.32/27"]
    assert (shown["routing"]["loopback6"], shown["site"]) == ("fd42:9900::7", "Berlin")
    table = await shell.run("nodes", "show", "ber1")
    for text in ("Berlin", "4242429900", "172.20.99.0/27, 172.20.99.32/27", "2001:db8::7", "active"):
        assert text in table
    await shell.run("nodes", "change", "ber1", "--region", "41", "--prefix", "172.20.99.0/26")
    kept = (await shell.json("nodes", "show", "ber1"))["routing"]
    changed = {"region": 41, "prefixes4": ["172.20.99.0/26"]}
    assert kept == shown["routing"] | changed
    assert (await shell.run("nodes", "token", "ber1")).startswith("rle_")
    assert (await shell.json("nodes", "token", "--expires-in", "600"))["node_id"] is None
    assert "Decommission the node first" in await shell.run("nodes", "delete", "ber1", status=1)
    await shell.run("nodes", "change", "ber1", "--decommission")
    assert (await newest(shell.office, "ber1"))["state"]["routing"] is False
    assert "is deleted" in await shell.run("nodes", "delete", "ber1")


async def test_refusals_end_with_their_status(shell: Shell) -> None:
    node, _ = await routed(shell.office, 1)
    bad = (*ADD[:2], "--public-key", "short", *ADD[4:])
    assert "peer_public_key" in await shell.run("peerings", "add", node, "f", *bad, status=1)
    ident = (await shell.run("peerings", "add", node, "f", *ADD)).strip()
    await shell.run("peerings", "change", ident, status=2)
    await shell.run("peerings", "show", "0" * 12, status=1)
    await shell.run("generations", "rollback", node, "9", status=1)
    shell.environment["ROUTELOOM_URL"] = "http://localhost:1"
    await shell.run("policy", "show", status=3)


async def test_generations_are_listed_compared_and_gone_back_to(shell: Shell) -> None:
    node, _ = await routed(shell.office, 1)
    await wanted(shell.office, "POST", "/api/v1/nodes", json={"node_id": "bare"})
    assert "Nothing is published" in await shell.run("generations", "list", "bare")
    await shell.run("peerings", "add", node, "f", *ADD)
    assert "peering f was added to r1" in await shell.run("generations", "list", node)
    assert "protocol bgp rl_f" in await shell.run("generations", "show", node, "2")
    assert (await shell.json("generations", "show", node, "2"))["number"] == 2
    assert "+protocol bgp rl_f" in await shell.run("generations", "diff", node, "2")
    assert "They are the same" in await shell.run("generations", "diff", node, "2", "--against", "2")
    preview = await shell.run("generations", "rollback", node, "1", "--preview")
    assert "generation 3 would be published" in preview
    assert "newest is now 3" in await shell.run("generations", "rollback", node, "1")
    assert (await newest(shell.office, node))["state"]["peerings"] == []


async def test_maintenance_and_policy(shell: Shell) -> None:
    node, _ = await routed(shell.office, 1)
    assert "is drained" in await shell.run("maintenance", node, "--reason", "new disks")
    assert (await newest(shell.office, node))["state"]["node"]["draining"] is True
    assert "is back" in await shell.run("maintenance", node, "--end")
    assert (await newest(shell.office, node))["state"]["node"]["draining"] is False
    assert "inside.igp" in await shell.run("policy", "show")
    assert (await shell.json("policy", "show"))["version"] == 0


async def test_links_and_pools(shell: Shell) -> None:
    first, _ = await routed(shell.office, 1)
    second, _ = await routed(shell.office, 2)
    assert "No link yet" in await shell.run("links", "list")
    assert "would be published" in await shell.run("links", "add", first, second, "--preview")
    ident = (await shell.run("links", "add", first, second, "--cost", "30")).strip()
    assert ident in await shell.run("links", "list", "--node", second)
    changed = await shell.json("links", "change", ident, "--mtu", "1400", "--disable")
    assert (changed["mtu"], changed["cost"], changed["enabled"]) == (1400, 30, False)
    await shell.run("links", "change", ident, status=2)
    assert "is deleted" in await shell.run("links", "delete", ident)
    assert "gives out 10 values" in await shell.run("pools", "add", "ports", "wireguard_port", "60000-60009")
    await shell.run("peerings", "add", first, "f", *ADD, "--registry-filter", "origin")
    assert "60000" in await shell.run("pools", "show", "ports")
    widened = await shell.run("pools", "change", "ports", "60000-60019")
    assert "gives out 20 values, 1 are given out" in widened
    assert "60000-60019" in await shell.run("pools", "list")
    await shell.run("pools", "delete", "ports", status=1)


async def test_labels_policy_and_a_drain_that_is_waited_for(shell: Shell, tmp_path: Path) -> None:
    node, _ = await routed(shell.office, 1)
    assert "region=eu, role=core" in await shell.run("nodes", "label", node, "role=core", "region=eu")
    assert f"{node}: region=eu" in await shell.run("nodes", "label", node, "role-")
    await shell.run("nodes", "label", node, "role", status=2)
    facts = tmp_path / "facts.json"
    facts.write_text('{"inside": {"igp": "babel"}}')
    assert "is changed" in await shell.run("policy", "change", str(facts))
    policy = await shell.json("policy", "show")
    assert (policy["inside"]["igp"], policy["inside"]["ibgp"]) == ("babel", "full_mesh")
    await shell.run("policy", "change", str(tmp_path / "none.json"), status=2)
    late = await shell.run("maintenance", node, "--wait", "1", status=1)
    assert "runs nothing yet, not generation" in late
