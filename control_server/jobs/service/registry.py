"""Asks the registry service to bring its index up to upstream. Asking twice changes nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import structlog

from control_server.jobs.errors import RegistrySyncFailed
from control_server.settings import ControlSettings
from shared.durable import QueuedJob

log = structlog.get_logger(__name__)

#: Refusals that another attempt would not change: somebody syncs already, a person has to look, or nothing is
#: mirrored. The registry service remembers and shows each.
_SETTLED = frozenset({"sync_running", "sync_held", "mirror_not_configured"})


@dataclass(frozen=True, slots=True)
class RegistrySync:
    """The registry service as this one knows it."""

    http: httpx2.AsyncClient
    url: str
    token_file: Path
    seconds: float

    @classmethod
    def of(cls, settings: ControlSettings, http: httpx2.AsyncClient) -> RegistrySync:
        """As the settings say."""
        return cls(
            http=http,
            url=f"{(settings.registry_url or settings.web.public_url).rstrip('/')}/registry/api/v1/sync",
            token_file=settings.jobs.registry_token_file or settings.state_directory / "admin-token",
            seconds=settings.jobs.registry_seconds,
        )

    async def run(self, job: QueuedJob) -> None:
        """One sync, by force where the job says so. Raises RegistrySyncFailed with what the service said."""
        token = await asyncio.to_thread(self._token)
        try:
            answer = await self.http.post(
                self.url,
                headers={"Authorization": f"Bearer {token}"},
                json={"force": job.payload.get("force") is True},
                timeout=self.seconds,
            )
        except httpx2.HTTPError as error:
            raise RegistrySyncFailed(
                f"The registry service does not answer ({type(error).__name__})."
            ) from error
        if answer.is_success:
            return
        problem = _problem(answer)
        if problem.get("code") in _SETTLED:
            log.info("registry.sync_left", code=problem["code"])
            return
        detail = str(problem.get("detail", ""))[:200]
        raise RegistrySyncFailed(f"The registry service answered {answer.status_code}. {detail}".strip())

    def _token(self) -> str:
        try:
            return self.token_file.read_text().strip()
        except OSError as error:
            raise RegistrySyncFailed(f"The access token in {self.token_file} cannot be read.") from error


def _problem(answer: httpx2.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
