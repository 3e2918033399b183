"""All services in one home, with an agent: a node's secrets are in no row and no log of any of them."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from node_agent.apply.keys import load_keys
from shared.testing.waiting import wait_until
from tests.journeys.lite import Lite, lite

pytestmark = pytest.mark.processes

PASSWORD = "planted-password-of-a-session"
PRESHARED = base64.b64encode(b"planted preshared key, 32 bytes.").decode()
PEER_KEY = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Lite]:
    with lite(tmp_path / "home") as started:
        yield started


def holders(home: Path, secret: bytes) -> set[str]:
    """Files of all services that hold it."""
    return {
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and secret in path.read_bytes()
    }


async def test_databases_logs_and_files_of_all_services_are_without_them(running: Lite) -> None:
    # Where routes go matters to nobody: there is no BIRD at the agent's socket, and so nothing is applied.
    routing = {"asn": 4242429900, "number": 1, "router_id": "172.20.99.1", "loopback4": "172.20.99.1"}
    wanted: dict[str, Any] = {
        "node_id": "demo",
        "name": "f",
        "asn": 4242429801,
        "link": {"kind": "wireguard", "peer_public_key": PEER_KEY, "endpoint": "192.0.2.1:20099"},
        "session": {"neighbor6": "fe80::801"},
        "preshared_key": PRESHARED,
        "password": PASSWORD,
    }
    with running.client() as client:
        version = client.get("/api/v1/nodes/demo/facts").json()["version"]
        match = {"If-Match": f'"{version}"'}
        changed = client.patch("/api/v1/nodes/demo", json={"routing": routing}, headers=match)
        assert changed.is_success, changed.text

        def made() -> bool:
            return client.post("/api/v1/peerings", json=wanted).status_code == 201

        # The agent tells its keys when it has come: until then nothing can be sealed to it.
        await wait_until(made)

        def told() -> bool:
            seen = client.get("/api/v1/nodes/demo/observation").json()["apply_result"]
            return bool(seen and seen["generation"] > 1)

        await wait_until(told)
    running.end()
    home = running.home
    keys = load_keys(home / "agent")
    assert {path.name for path in home.glob("*.db")} >= {"control.db", "auth.db", "registry.db"}
    for secret in (PASSWORD.encode(), PRESHARED.encode(), base64.b64decode(PRESHARED), bytes(keys.wireguard)):
        assert holders(home, secret) == set()
    assert holders(home, keys.wireguard_text.encode()) == {"agent/wireguard.key"}
    assert holders(home, base64.b64encode(bytes(keys.sealing))) == {"agent/sealing.key"}
    for word in (PASSWORD, PRESHARED, keys.wireguard_text):
        assert word not in running.printed
