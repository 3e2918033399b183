"""Settings of control_server: `ROUTELOOM_…` variables and an optional TOML file, built once."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
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
    failures_per_address: int = Field(
        default=30, ge=1, description="Failed sign-ins from one address (IPv6: one /64) in 15 minutes"
    )
    refusals_per_address: int = Field(
        default=300, ge=1, description="Refused bearers from one address (IPv6: one /64) in 15 minutes"
    )


class DurableSettings(BaseModel):
    """Where waiting jobs are. Without a URL they are in this service's own database."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: SecretStr | None = Field(
        default=None, description="redis://, rediss://, valkey:// or valkeys:// of `valkey-state`, database 1"
    )
    cluster: bool = Field(default=False, description="The URL is of one node of a cluster")
    tls_ca: Path | None = Field(default=None, description="Certificate authority of the server")
    tls_certificate: Path | None = Field(default=None, description="Our certificate for the server")
    tls_key: Path | None = Field(default=None, description="The key of our certificate")
    prefix: str = Field(
        default="routeloom:{durable}",
        pattern=r"^[A-Za-z0-9._:{}-]{1,80}$",
        description="Beginning of every key; its tag in braces keeps them together in a cluster",
    )
    lease: timedelta = Field(
        default=timedelta(seconds=60),
        gt=timedelta(0),
        description="A job whose worker is gone is taken over after so long",
    )
    max_jobs: int = Field(default=10_000, ge=10, description="Most jobs of one queue, the dead included")

    @field_validator("url")
    @classmethod
    def _no_url_is_none(cls, url: SecretStr | None) -> SecretStr | None:
        return url if url is not None and url.get_secret_value() else None


class JobSettings(BaseModel):
    """Background jobs, and what they keep."""

    model_config = ConfigDict(frozen=True)

    in_process: bool = Field(
        default=False, description="Also work in the process that serves, as Lite does; else run `work`"
    )
    concurrency: int = Field(default=4, ge=1, le=64, description="Jobs of one queue at a time, each worker")
    attempts: int = Field(default=5, ge=1, le=100, description="Attempts before an upkeep job is dead")
    first_pause: timedelta = Field(default=timedelta(seconds=30), description="Pause before its second one")
    grace: timedelta = Field(
        default=timedelta(seconds=10),
        description="A worker that is told to stop lets jobs finish for so long",
    )
    metrics_port: int | None = Field(
        default=None, ge=1, le=65535, description="Port of a worker's `/metrics`; empty: none"
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address that it listens on")
    registry_sync_every: timedelta | None = Field(
        default=None,
        ge=timedelta(seconds=10),
        description="Ask the registry for a sync so often; empty: never",
    )
    registry_token_file: Path | None = Field(
        default=None,
        description="Access token for the registry service; by default `admin-token` in the state directory",
    )
    registry_seconds: float = Field(default=600, gt=0, le=3600, description="Longest wait for a sync")
    keep_probes: timedelta = Field(
        default=timedelta(days=30), ge=timedelta(hours=1), description="Finished probes are kept for so long"
    )
    keep_spent: timedelta = Field(
        default=timedelta(days=7),
        ge=timedelta(hours=1),
        description="Used or expired enrolment tokens and revoked agent tokens are kept for so long",
    )


class AlertSettings(BaseModel):
    """When a node counts as lost, and how channels are told."""

    model_config = ConfigDict(frozen=True)

    lost_after: timedelta = Field(
        default=timedelta(minutes=3),
        ge=timedelta(minutes=2),
        description="Silence after which a node is lost",
    )
    back_after: timedelta = Field(
        default=timedelta(seconds=30), description="A lost node that speaks for so long is back"
    )
    attempts: int = Field(default=10, ge=1, le=100, description="Deliveries tried before one is dead")
    first_pause: timedelta = Field(default=timedelta(seconds=5), description="Pause before the second try")
    longest_pause: timedelta = Field(default=timedelta(minutes=30), description="Longest pause between tries")
    seconds: float = Field(default=5, gt=0, le=5, description="Time for a receiver's answer")
    targets: TargetPreset = Field(
        default=TargetPreset.CLEARNET, description="Which addresses receivers may have; loopback never is one"
    )
    allow: tuple[IPv4Network | IPv6Network, ...] = Field(
        default=(), description="Networks of receivers that are allowed although refused"
    )
    allow_loopback: bool = Field(default=False, description="Receivers may be on this very host")
    keep: timedelta = Field(
        default=timedelta(days=90), ge=timedelta(days=1), description="Closed incidents are kept for so long"
    )


class KeepSettings(BaseModel):
    """How far back what nodes report can be read."""

    model_config = ConfigDict(frozen=True)

    traffic_fine: timedelta = Field(
        default=timedelta(hours=50),
        ge=timedelta(hours=25),
        description="Traffic in steps of 5 minutes; a day is compared with the day before",
    )
    traffic_coarse: timedelta = Field(
        default=timedelta(days=91), ge=timedelta(days=8), description="Traffic in steps of an hour"
    )
    route_changes: timedelta = Field(
        default=timedelta(days=30), ge=timedelta(hours=1), description="What became of best paths"
    )
    flaps: timedelta = Field(
        default=timedelta(days=90),
        ge=timedelta(days=1),
        description="Flaps of sessions, and rates of updates",
    )
    health: timedelta = Field(
        default=timedelta(days=90),
        ge=timedelta(days=1),
        description="Changes of health, and closed incidents",
    )


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
    durable: DurableSettings = DurableSettings()
    jobs: JobSettings = JobSettings()
    keep: KeepSettings = KeepSettings()
    alerts: AlertSettings = AlertSettings()
    agent_token_life: timedelta = Field(
        default=timedelta(seconds=60),
        ge=timedelta(0),
        le=timedelta(minutes=5),
        description="An agent token that was looked up is believed for so long; 0 asks SQL each time",
    )
    registry_url: str = Field(
        default="",
        validation_alias="ROUTELOOM_REGISTRY_URL",
        description="Where this service reaches the registry service; by default the public address",
    )
    registry_filters_every: timedelta = Field(
        default=timedelta(minutes=15),
        ge=timedelta(minutes=1),
        description="Filters that are made of the registry's route objects follow it so often",
    )
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
