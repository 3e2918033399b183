"""Settings of control_server: `ROUTELOOM_…` variables and an optional TOML file, built once."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic_settings import SettingsConfigDict

from shared.cache import TierSettings
from shared.database import DatabaseSettings
from shared.runtime_state import RuntimeStateSettings
from shared.web.settings import SettingsFromEnvironment, WebSettings

UNCONFIGURED = TierSettings.model_validate({})


class TargetPreset(StrEnum):
    """Which addresses the fleet's probes may aim at."""

    CLEARNET = "clearnet"
    DN42 = "dn42"


class ProbeSettings(BaseModel):
    """Bounds of probes."""

    model_config = ConfigDict(frozen=True)

    targets: TargetPreset = Field(default=TargetPreset.CLEARNET, description="Base policy for targets")
    allow: tuple[IPv4Network | IPv6Network, ...] = Field(default=(), description="Allowed although refused")
    deny: tuple[IPv4Network | IPv6Network, ...] = Field(default=(), description="Refused although allowed")
    seconds: float = Field(default=60, gt=0, le=600, description="Longest run of a tool on a node")
    lines: int = Field(default=4000, ge=10, le=4000, description="Most lines of one probe, all nodes")
    line_bytes: int = Field(default=4096, ge=80, le=65536, description="Longest line")
    total_bytes: int = Field(default=1_048_576, ge=1024, description="Most bytes of one probe")
    nodes: int = Field(default=50, ge=1, le=500, description="Most nodes of one probe")
    running_per_user: int = Field(default=10, ge=1, description="Unfinished probes of one caller")
    running_per_node: int = Field(default=10, ge=1, description="Unfinished probes on one node")
    running_per_target: int = Field(default=10, ge=1, description="Unfinished probes of one target")
    running: int = Field(default=100, ge=1, description="Unfinished probes of the whole fleet")
    viewers: int = Field(default=100, ge=1, description="Open streams of one probe")
    start_seconds: float = Field(default=10, gt=0, description="Time for an agent to say that it has started")
    lost_seconds: float = Field(default=20, ge=0, description="Grace for an agent whose link is cut")


class SessionSettings(BaseModel):
    """Portal sessions and one-time links."""

    model_config = ConfigDict(frozen=True)

    link_life: timedelta = Field(default=timedelta(minutes=10), description="Life of a one-time link")
    idle: timedelta = Field(default=timedelta(hours=12), description="A session unused for so long ends")
    absolute: timedelta = Field(default=timedelta(days=7), description="A session older than this ends")


class ApiTokenSettings(BaseModel):
    """Limits of personal access tokens."""

    model_config = ConfigDict(frozen=True)

    requests_per_minute: int = Field(default=300, ge=1, description="Requests of one access token")
    failures_per_minute: int = Field(
        default=10, ge=1, description="Refused access tokens from one address, which then is locked out"
    )
    lockout_seconds: int = Field(
        default=900, ge=1, le=86_400, description="How long access tokens from there are not looked at"
    )


class SignInSettings(BaseModel):
    """The portal as a client of the sign-in service, and the access tokens of that service."""

    model_config = ConfigDict(frozen=True)

    client_id: str = Field(default="routeloom-portal", description="Id of the portal as a client")
    client_secret_file: Path | None = Field(
        default=None, description="Its secret; by default `secrets/portal-client` in the state directory"
    )
    transaction_life: timedelta = Field(
        default=timedelta(minutes=30), description="Time to finish a sign-in that was begun"
    )
    step_up_life: timedelta = Field(
        default=timedelta(minutes=10),
        description="What concerns access can be changed from a browser for so long after a proof",
    )
    grant_fresh: timedelta = Field(
        default=timedelta(seconds=1),
        le=timedelta(seconds=1),
        description="A token's grant is asked for again after so long: how late a revocation may be seen",
    )
    grant_stale: timedelta = Field(
        default=timedelta(minutes=5),
        le=timedelta(hours=1),
        description="With the sign-in service away, a token that was good stays good for so long",
    )
    seconds: float = Field(default=5, gt=0, le=60, description="Time for an answer of the sign-in service")


class ControlSettings(SettingsFromEnvironment):
    """Everything that control_server can be told."""

    model_config = SettingsConfigDict(env_prefix="ROUTELOOM_CONTROL_", populate_by_name=True)
    table: ClassVar[str] = "control"

    web: WebSettings = WebSettings()
    database: DatabaseSettings
    kv: TierSettings = Field(default=UNCONFIGURED, description="Valkey; without a URL not configured")
    cache: TierSettings = Field(default=UNCONFIGURED, description="Redis; without a URL not configured")
    runtime_state: RuntimeStateSettings = Field(default_factory=RuntimeStateSettings)
    state_directory: Path = Field(description="Private directory for secrets and, in Lite, databases")
    fleet_name: str = Field(default="loom-net", max_length=40, description="Name shown in the portal")
    probes: ProbeSettings = ProbeSettings()
    sessions: SessionSettings = SessionSettings()
    api_tokens: ApiTokenSettings = ApiTokenSettings()
    sign_in: SignInSettings = SignInSettings()
    auth_url: str = Field(
        default="",
        validation_alias="ROUTELOOM_AUTH_URL",
        description="Where this service reaches the sign-in service; by default the public address",
    )

    @property
    def issuer(self) -> str:
        """Who makes the tokens."""
        return f"{self.web.public_url}/auth"

    @property
    def api_audience(self) -> str:
        """Whom access tokens are for that are good here."""
        return f"{self.web.public_url}/api"

    @property
    def client_secret_file(self) -> Path:
        """Where the portal's secret as a client is."""
        return self.sign_in.client_secret_file or self.state_directory / "secrets" / "portal-client"
