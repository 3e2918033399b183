"""The text for the other side, whatever the peering is: BIRD takes it as it is pasted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from shared.testing.servers.process import find_program
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import peering, routed, wanted
from tests.integration.control.peerings.other_routers import checked_by_frr

PLAIN = {"kind": "plain", "interface": "eth7", "addresses": [{"address": "172.20.98.1/30"}]}
TUNNEL = peering("r1")["link"]
CASES: dict[str, dict[str, Any]] = {
    "link-local": {},
    "both families": {
        "session": {
            "mode": "split",
            "neighbor6": "fe80::801",
            "neighbor4": "172.20.98.2",
        },
        "link": {**TUNNEL, "addresses": [{"address": "172.20.98.1/32", "peer": "172.20.98.2"}]},
    },
    "plain": {"link": PLAIN, "session": {"neighbor4": "172.20.98.2", "families": [4]}},
    "every option": {
        "session": {
            "neighbor6": "fe80::801",
            "options": {
                "bfd": True,
                "ttl_security": True,
                "role": "provider",
                "timers": {"hold": 30, "keepalive": 10},
            },
        },
        "password": "secret",
    },
    "over hops, and no fewer": {
        "session": {"neighbor6": "fd42:16::1", "options": {"multihop": 3, "ttl_security": True}},
        "link": {**TUNNEL, "addresses": [{"address": "fd42:16::2/64"}]},
    },
    "a route server's client": {
        "session": {"neighbor6": "fe80::801", "families": [6], "options": {"role": "rs_client"}},
    },
    "over hops": {
        "session": {"neighbor6": "fd42:16::1", "options": {"multihop": 3}},
        "link": {**TUNNEL, "addresses": [{"address": "fd42:16::2/64"}]},
    },
}
#: What every router has already, and what a paste of ours stands beside.
GROUND = "router id 192.0.2.1;\nprotocol device { }\n"


async def parsed(text: str, directory: Path) -> str:
    """What BIRD says of it; nothing where it takes it."""
    path = directory / "bird.conf"
    path.write_text(GROUND + text, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        "bird", "-p", "-c", str(path), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    return "" if process.returncode == 0 else said.decode()


async def checked_by_openbgpd(text: str, directory: Path) -> str:
    """What OpenBGPD says of it; nothing where it takes it."""
    path = directory / "bgpd.conf"
    # It looks the interface of a link-local address up: loopback is on every host.
    path.write_text("AS 4242429801\nrouter-id 192.0.2.1\n" + text.replace("%wg-r1", "%lo") + "\n")
    path.chmod(0o600)
    process = await asyncio.create_subprocess_exec(
        *(find_program("bgpd", "openbgpd"), "-n", "-f", str(path)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return "" if process.returncode == 0 else said.decode()


@pytest.mark.parametrize("case", CASES)
async def test_bird_takes_what_the_neighbour_pastes(lite: Office, tmp_path: Path, case: str) -> None:
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node, **CASES[case]))
    other = await wanted(lite, "GET", f"/api/v1/peerings/{made['id']}/other-side")
    assert await parsed(other["bird"], tmp_path) == ""
    assert checked_by_frr(other["frr"], tmp_path) == ""
    assert await checked_by_openbgpd(other["openbgpd"], tmp_path) == ""
    if made["link"]["kind"] == "wireguard":
        for line in ("[Interface]", "[Peer]", f"Endpoint = r1.example:{made['link']['listen_port']}"):
            assert line in other["wireguard"].splitlines()


async def test_what_the_node_has_not_been_told_is_marked(lite: Office) -> None:
    node, _ = await routed(lite, 1, loopback4=None, router_id="172.20.99.1")
    session = {"mode": "split", "neighbor6": "fe80::801", "neighbor4": "172.20.98.2"}
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node, session=session))
    other = await wanted(lite, "GET", f"/api/v1/peerings/{made['id']}/other-side")
    for kind in ("bird", "frr", "openbgpd"):
        assert "NOT-KNOWN-YET" in other[kind]
        assert "None" not in other[kind]
