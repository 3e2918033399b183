"""A fleet of facts: nodes that route, with agents whose keys are known."""

from __future__ import annotations

import base64
from typing import Any

from nacl.public import PrivateKey

from control_server.agents.models import Agent, AgentToken
from shared.kernel.secrets import mint
from shared.protocol.fleet import NodeKeys
from tests.integration.control.enrolment.office import Office

OURS, THEIRS = 4242429900, 4242429801
PEER_KEY = base64.b64encode(bytes(range(32))).decode()


def text_of(key: bytes) -> str:
    return base64.b64encode(key).decode()


async def routed(office: Office, number: int, **facts: Any) -> tuple[str, PrivateKey]:
    """A node `r<number>` that routes, and the private half of its sealing key."""
    node_id = f"r{number}"
    routing = {
        "asn": OURS,
        "number": number,
        "loopback4": f"172.20.99.{number}",
        "loopback6": f"fd42:9900::{number}",
        "prefixes4": ["172.20.99.0/26"],
        "prefixes6": ["fd42:9900::/48"],
        "endpoint": f"r{number}.example",
        **facts,
    }
    made = await office.admin.post("/api/v1/nodes", json={"node_id": node_id, "routing": routing})
    assert made.status_code == 201, made.text
    sealing, tunnel = PrivateKey.generate(), PrivateKey.generate()
    keys = NodeKeys(wireguard=text_of(bytes(tunnel.public_key)), sealing=text_of(bytes(sealing.public_key)))
    async with office.resources.database.transaction() as session:
        session.add(
            Agent(
                node_id=node_id,
                public_key=f"key of {node_id}",
                keys=keys.model_dump(),
                enrolled_at=office.clock(),
                connected_at=None,
                disconnected_at=None,
                last_seen_at=None,
            )
        )
    return node_id, sealing


async def agent_token(office: Office, node_id: str) -> str:
    """A token of the node's agent."""
    secret = mint("rlg")
    async with office.resources.database.transaction() as session:
        session.add(
            AgentToken(
                id=secret.id,
                node_id=node_id,
                digest=secret.digest,
                created_at=office.clock(),
                revoked_at=None,
            )
        )
    return secret.text


def peering(node_id: str, name: str = "f", **more: Any) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "name": name,
        "asn": THEIRS,
        "link": {"kind": "wireguard", "peer_public_key": PEER_KEY, "endpoint": "f.example:20099"},
        "session": {"neighbor6": "fe80::801"},
        **more,
    }


async def wanted(office: Office, method: str, path: str, **more: Any) -> dict[str, Any]:
    """The JSON of an answer that must be good."""
    answer = await office.admin.request(method, path, **more)
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def newest(office: Office, node_id: str) -> dict[str, Any]:
    """The state that is published for a node."""
    page = await wanted(office, "GET", f"/api/v1/nodes/{node_id}/generations")
    number = page["items"][0]["number"]
    return await wanted(office, "GET", f"/api/v1/nodes/{node_id}/generations/{number}")


def match(version: int) -> dict[str, str]:
    return {"If-Match": f'"{version}"'}
