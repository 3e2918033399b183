"""The agent of this machine: enrolled by the public API, started in a session of its own, adopted later."""

from __future__ import annotations

import asyncio
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
        async with httpx2.AsyncClient(base_url=self.server_url, headers=headers, trust_env=False) as client:
            try:
                enrolled_now = await self._ensure_enrolled(client)
                before = running_pid(self.home.agent)
                pid = await asyncio.to_thread(spawn_detached, self._settings)
                online = await self._wait_online(client)
            except (AppError, httpx2.HTTPError) as error:
                return f"not started: {error}"
        word = what_came_of(before, pid, enrolled_now=enrolled_now)
        return f"node {NODE_ID} {'online' if online else 'connecting'}, process {pid} {word}"

    async def _ensure_enrolled(self, client: httpx2.AsyncClient) -> bool:
        """Whether it was enrolled only now."""
        known = await client.get(f"/api/v1/nodes/{NODE_ID}")
        if known.status_code == httpx2.codes.NOT_FOUND:
            (await client.post("/api/v1/nodes", json=_NODE)).raise_for_status()
        agent = known.json().get("agent") if known.is_success else None
        if agent is not None and self._settings.token_path.exists():
            return False
        if agent is not None:
            (await client.post(f"/api/v1/nodes/{NODE_ID}/agent/reset")).raise_for_status()
        wanted = {"node_id": NODE_ID, "expires_in": 600}
        made = (await client.post("/api/v1/enrolment-tokens", json=wanted)).raise_for_status().json()
        await enrol(self._settings, made["token"], capabilities=await find_capabilities())
        return True

    async def _wait_online(self, client: httpx2.AsyncClient) -> bool:
        for _ in range(_PATIENCE_SECONDS * 10):
            node: dict[str, Any] = (await client.get(f"/api/v1/nodes/{NODE_ID}")).json()
            if node["liveness"] == "online":
                return True
            await asyncio.sleep(0.1)
        return False


def what_came_of(before: int | None, pid: int, *, enrolled_now: bool) -> str:
    """How the agent's process came to be, from the one that ran before and the one that runs now."""
    if before == pid:
        return "adopted"
    if before is not None:
        return f"started in place of {before}, which was of another version or for another address"
    return "started" if enrolled_now else "started anew, for the earlier one no longer ran"
