"""Fetching the node's desired state, and finding out whether the controller can be reached at all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2
from pydantic import ValidationError

from node_agent import state
from node_agent.errors import NotEnrolled, ServerUnreachable
from shared import __version__
from shared.protocol.desired_state.document import MAX_DOCUMENT_BYTES, PublishedState

if TYPE_CHECKING:
    from node_agent.settings import AgentSettings

_PATH = "/api/v1/agent/desired-state"
_SECONDS = 15.0
_REACH_SECONDS = 5.0
_REACH_TRIES = 4
_BETWEEN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Puller:
    """Asks the control server over HTTP, each time over a connection of its own."""

    settings: AgentSettings

    async def pull(self, known: PublishedState | None) -> PublishedState | None:
        """The node's newest generation; `known` when nothing is newer, None when nothing is published.

        Raises ServerUnreachable, NotEnrolled, or ValueError for an answer that is no desired state.
        """
        token = state.read_text(self.settings.token_path)
        if token is None:
            raise NotEnrolled
        headers = {"Authorization": f"Bearer {token}"}
        if known is not None:
            headers["If-None-Match"] = f'"{known.generation}-{known.sha256}"'
        try:
            async with self._client(_SECONDS) as client:
                answer = await client.get(_PATH, headers=headers)
        except httpx2.HTTPError as error:
            raise ServerUnreachable(
                f"The desired state cannot be fetched: {type(error).__name__}."
            ) from error
        return self._read(answer, known)

    async def reachable(self) -> bool:
        """Whether the controller answers over a new connection, within some tries."""
        for attempt in range(_REACH_TRIES):
            if attempt:
                await asyncio.sleep(_BETWEEN_SECONDS)
            try:
                async with self._client(_REACH_SECONDS) as client:
                    if (await client.get("/livez")).is_success:
                        return True
            except httpx2.HTTPError:
                continue
        return False

    def _client(self, seconds: float) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self.settings.server_url,
            timeout=seconds,
            trust_env=not self.settings.server_is_local,
            headers={"User-Agent": f"routeloom-agent/{__version__}"},
        )

    def _read(self, answer: httpx2.Response, known: PublishedState | None) -> PublishedState | None:
        if answer.status_code == httpx2.codes.NOT_MODIFIED:
            return known
        if answer.status_code == httpx2.codes.NOT_FOUND:
            return None
        if not answer.is_success:
            raise ServerUnreachable(f"The desired state was refused: HTTP {answer.status_code}.")
        if len(answer.content) > MAX_DOCUMENT_BYTES:
            raise ServerUnreachable("The desired state is larger than any node's can be.")
        try:
            return PublishedState.model_validate_json(answer.content)
        except ValidationError as error:
            where = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
            raise ServerUnreachable(
                f"The desired state is not understood ({where}): update the agent."
            ) from error
