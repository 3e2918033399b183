"""The variables of the runtime state, and the checks that a process makes before it starts to serve.

Reading the settings judges numbers only. The URL and how it fits the deployment are judged by
`check_deployment`, which the application's lifespan calls: migrations, `--help` and imports never meet it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from pydantic import Field, PositiveInt, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.runtime_state.locations import (
    Location,
    MemoryLocation,
    RuntimeStateConfigurationError,
    check_prefix,
    parse_location,
)
from shared.runtime_state.memory_store import MemoryLimits

#: What servers read for their number of worker processes.
WORKER_VARIABLES = ("WEB_CONCURRENCY", "UVICORN_WORKERS")


class RuntimeStateSettings(BaseSettings):
    """Read from variables without a prefix, under the names that the runtime-state adapter fixes."""

    model_config = SettingsConfigDict(populate_by_name=True, extra="ignore")

    url: SecretStr = Field(
        SecretStr("memory://lite"),
        validation_alias="REDIS_URL",
        description="`redis://…` or `rediss://…`; `memory://<name>` only with SQLite and one process",
    )
    key_prefix: str = Field(
        "routeloom:", validation_alias="REDIS_KEY_PREFIX", description="Begins every key, on both back ends"
    )
    tls_authorities: Path | None = Field(
        None,
        validation_alias="REDIS_TLS_CA_FILE",
        description="PEM file of the authorities for `rediss://`; by default the system's",
    )
    sweep_interval_seconds: PositiveInt = Field(
        30,
        validation_alias="RUNTIME_ARTIFACT_SWEEP_INTERVAL_SECONDS",
        le=3600,
        description="Seconds between two sweeps of `memory://`",
    )
    memory_max_bytes: PositiveInt = Field(
        128 * 2**20,
        validation_alias="RUNTIME_STATE_MEMORY_MAX_BYTES",
        description="Most bytes that `memory://` holds",
    )
    memory_max_item_bytes: PositiveInt = Field(
        16 * 2**20,
        validation_alias="RUNTIME_STATE_MEMORY_MAX_ITEM_BYTES",
        description="Most bytes of one value or hash in `memory://`",
    )
    preview_ttl_seconds: PositiveInt = Field(
        3600,
        validation_alias="runtime_preview_artifact_ttl_seconds",
        le=86_400,
        description="Seconds that a preview of a configuration lives unless it is closed",
    )

    @property
    def sweep_interval(self) -> timedelta:
        return timedelta(seconds=self.sweep_interval_seconds)

    @property
    def preview_ttl(self) -> timedelta:
        return timedelta(seconds=self.preview_ttl_seconds)

    @property
    def memory_limits(self) -> MemoryLimits:
        return MemoryLimits(self.memory_max_bytes, self.memory_max_item_bytes)


@dataclass(frozen=True, slots=True)
class Deployment:
    """What else this process runs with."""

    #: The URL of its database; only the scheme is looked at.
    database_url: str = field(repr=False)
    #: Worker processes that the server itself is set to start.
    workers: int = 1
    #: Normally `os.environ`, where servers find their number of workers.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def database(self) -> str:
        """The database's scheme without the driver."""
        return self.database_url.partition(":")[0].partition("+")[0].lower()


def check_deployment(settings: RuntimeStateSettings, deployment: Deployment) -> Location:
    """Where the state is kept, or `RuntimeStateConfigurationError` if this must not start."""
    check_prefix(settings.key_prefix)
    location = parse_location(settings.url.get_secret_value(), settings.tls_authorities)
    if isinstance(location, MemoryLocation):
        _check_single_process(deployment)
        if settings.memory_max_item_bytes > settings.memory_max_bytes:
            raise RuntimeStateConfigurationError(
                "RUNTIME_STATE_MEMORY_MAX_ITEM_BYTES is above RUNTIME_STATE_MEMORY_MAX_BYTES;"
                " lower the first or raise the second."
            )
    return location


def _check_single_process(deployment: Deployment) -> None:
    if deployment.database != "sqlite":
        raise RuntimeStateConfigurationError(
            "memory:// in REDIS_URL serves a single process on SQLite. With PostgreSQL, set REDIS_URL to redis://…."
        )
    if deployment.workers != 1:
        raise RuntimeStateConfigurationError(
            "memory:// in REDIS_URL serves a single process, and the server is set to start more."
            " Start one worker, or set REDIS_URL to redis://…."
        )
    for variable in WORKER_VARIABLES:
        _check_worker_variable(variable, deployment.environment.get(variable, "").strip())


def _check_worker_variable(variable: str, text: str) -> None:
    if text in {"", "1"}:
        return
    if not text.isdecimal() or int(text) == 0:
        raise RuntimeStateConfigurationError(
            f"{variable} is not a number of workers. Set it to 1 or remove it."
        )
    if int(text) > 1:
        raise RuntimeStateConfigurationError(
            f"memory:// in REDIS_URL serves a single process, and {variable} asks for more."
            " Set it to 1, or set REDIS_URL to redis://…."
        )
