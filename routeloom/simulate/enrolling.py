"""How a simulated node comes into the fleet: as any other, by a one-shot token and a key of its own."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shared import __version__
from shared.kernel.errors import Unavailable
from shared.protocol.enrolment import signed_message

if TYPE_CHECKING:
    import httpx2

_CONFLICT = 409


class ServerRefused(Unavailable):
    """The server does not take part in the simulation."""

    code = "simulation_refused"


async def enrol(api: httpx2.AsyncClient, node_id: str) -> str:
    """The agent token of a node, which is added where it is new. Raises ServerRefused."""
    added = await api.post("/api/v1/nodes", json={"node_id": node_id, "site": "Simulation"})
    if added.status_code == _CONFLICT:
        await api.post(f"/api/v1/nodes/{node_id}/agent/reset")
    token = (await asked(api, "/api/v1/enrolment-tokens", {"node_id": node_id}))["token"]
    challenge = (await asked(api, "/api/v1/agent/enrol/challenges", {}))["challenge"]
    key = Ed25519PrivateKey.generate()
    proof = key.sign(signed_message(challenge, token, node_id))
    body = {
        "token": token,
        "node_id": node_id,
        "public_key": base64.b64encode(key.public_key().public_bytes_raw()).decode(),
        "challenge": challenge,
        "signature": base64.b64encode(proof).decode(),
        "agent_version": __version__,
        "hostname": f"{node_id}.example",
    }
    return str((await asked(api, "/api/v1/agent/enrol", body))["agent_token"])


async def asked(api: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the server answers to a POST. Raises ServerRefused with its words."""
    answer = await api.post(path, json=body)
    if not answer.is_success:
        raise ServerRefused(f"{path} answered {answer.status_code}: {answer.text[:300]}")
    found: dict[str, Any] = answer.json()
    return found
