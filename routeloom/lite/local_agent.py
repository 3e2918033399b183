"""The agent of this machine: enrolled by the public API, started in a session of its own, adopted later."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from node_agent.collect.capabilities import find_capabilities
from node_agent.enrolment import enrol
from node_agent.settings import AgentSettings
from node_agent.supervise import nudge, running_pid, spawn_detached
from shared.kernel.errors import AppError

if TYPE_CHECKING:
    from routeloom.lite.home import Home

NODE_ID = "demo"
_NODE = {
    "node_id": NODE_ID,
    "site": "This machine",
    "description": "Sample node of Lite; its probes may aim at loopback",
    "allow_targets": ["127.0.0.0/8", "::1/128"],
}
_PATIENCE_SECONDS = 10
#: For one answer: the services still come up, and people may ask them for more than this.
_ANSWER_SECONDS = 30
_BUSY = {httpx2.codes.SERVICE_UNAVAILABLE, httpx2.codes.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class LocalAgent:
    """The agent whose state is in the home of Lite."""

    home: Home
    server_url: str

    @property
    def _settings(self) -> AgentSettings:
        return AgentSettings.model_validate(
            {"server_url": self.server_url, "state_directory": self.home.agent, "node_id": NODE_ID}
        )

    async def bring_up(self) -> str:
        """Enrol where needed, start or adopt; answers a sentence on what came of it."""
        # One that waits to come back does so while we ask what the server knows of it.
        nudge(self.home.agent)
        headers = {"Authorization": f"Bearer {self.home.admin_token.read_text().strip()}"}
        async with httpx2.AsyncClient(
            base_url=self.server_url, headers=headers, trust_env=False, timeout=_ANSWER_SECONDS
        ) as client:
            try:
                enrolled_now = await self._ensure_enrolled(client)
                before = running_pid(self.home.agent)
                pid = await asyncio.to_thread(spawn_detached, self._settings)
                online = await self._wait_online(client)
            except (AppError, httpx2.HTTPError) as error:
                return f"not started: {_reason(error)}"
        word = what_came_of(before, pid, enrolled_now=enrolled_now)
        return f"node {NODE_ID} {'online' if online else 'connecting'}, process {pid} {word}"

    async def _ensure_enrolled(self, client: httpx2.AsyncClient) -> bool:
        """Whether it was enrolled only now."""
        known = await known_node(client)
        if known is None:
            (await client.post("/api/v1/nodes", json=_NODE)).raise_for_status()
        agent = known["agent"] if known else None
        if agent is not None and self._settings.token_path.exists():
            return False
        if agent is not None:
            (await client.post(f"/api/v1/nodes/{NODE_ID}/agent/reset")).raise_for_status()
        wanted = {"node_id": NODE_ID, "expires_in": 600}
        made = (await client.post("/api/v1/enrolment-tokens", json=wanted)).raise_for_status().json()
        await enrol(self._settings, made["token"], capabilities=await find_capabilities())
        return True

    async def _wait_online(self, client: httpx2.AsyncClient) -> bool:
        with suppress(httpx2.HTTPError):  # it runs, whatever the server says of it now
            for _ in range(_PATIENCE_SECONDS * 10):
                node = await known_node(client)
                if node is not None and node["liveness"] == "online":
                    return True
                await asyncio.sleep(0.1)
        return False


async def known_node(client: httpx2.AsyncClient, pause: float = 1) -> dict[str, Any] | None:
    """What the server knows of the node, or None where it knows none; a busy server is asked again.

    Whoever took a refusal for "there is none" would enrol anew an agent that is in its place.
    """
    for _ in range(_PATIENCE_SECONDS):
        answer = await client.get(f"/api/v1/nodes/{NODE_ID}")
        if answer.status_code not in _BUSY:
            break
        await asyncio.sleep(pause)
    if answer.status_code == httpx2.codes.NOT_FOUND:
        return None
    node: dict[str, Any] = answer.raise_for_status().json()
    return node


def _reason(error: Exception) -> str:
    if isinstance(error, httpx2.TimeoutException):  # it has no text
        return f"the server did not answer within {_ANSWER_SECONDS} seconds; the next start tries again"
    return str(error)


def what_came_of(before: int | None, pid: int, *, enrolled_now: bool) -> str:
    """How the agent's process came to be, from the one that ran before and the one that runs now."""
    if before == pid:
        return "adopted"
    if before is not None:
        return f"started in place of {before}, which was of another version or for another address"
    return "started" if enrolled_now else "started anew, for the earlier one no longer ran"
