"""What a service says of its runtime state: facts, figures, and a start that is refused early."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from fastapi import APIRouter, Depends

from shared.cache import check_tiers
from shared.runtime_state import Deployment, RedisRuntimeClient, check_deployment
from shared.runtime_state.client import get_redis_runtime_client
from shared.web.routing import Router

if TYPE_CHECKING:
    from shared.database import DatabaseSettings
    from shared.runtime_state import RuntimeStateSettings
    from shared.web.settings import WebSettings


class DeployedSettings(Protocol):
    """The settings that decide whether a runtime state fits the deployment."""

    @property
    def web(self) -> WebSettings:
        """How many workers there are."""

    @property
    def database(self) -> DatabaseSettings:
        """Which database the facts are in."""

    @property
    def runtime_state(self) -> RuntimeStateSettings:
        """Where the state is kept."""


def deployment_of(settings: DeployedSettings) -> Deployment:
    """What else a process with these settings runs with."""
    url = settings.database.url.get_secret_value()
    return Deployment(database_url=url, workers=settings.web.workers, environment=os.environ)


def check_start(settings: Any) -> None:
    """Refuse what the lifespan would refuse, before a server turns it into a traceback.

    Raises TierMisconfigured or RuntimeStateConfigurationError. What a service has none of is not checked.
    """
    check_tiers(settings)
    if hasattr(settings, "runtime_state"):
        check_deployment(settings.runtime_state, deployment_of(settings))


def ready_facts(resources: Any) -> dict[str, Any]:
    """The static facts for `/readyz`; nothing is asked of a server."""
    client: RedisRuntimeClient | None = getattr(resources, "runtime_state", None)
    if client is None:
        return {}
    return {
        "runtime_state_backend": client.backend_name,
        "runtime_state_ephemeral": client.ephemeral,
        "single_process": client.ephemeral,
    }


_Client = Annotated[RedisRuntimeClient, Depends(get_redis_runtime_client)]


def runtime_state_router(prefix: str) -> APIRouter:
    """`GET <prefix>/metrics/runtime-state`: aggregates only; the proxy does not publish it."""
    router = Router(prefix=prefix, include_in_schema=False)

    @router.get("/metrics/runtime-state")
    async def read_runtime_state_figures(client: _Client) -> dict[str, Any]:
        return asdict(await client.stats())

    return router
