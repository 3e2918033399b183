"""What the agent is told: environment variables `ROUTELOOM_AGENT_…`."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared import __version__
from shared.protocol.enrolment import NODE_ID_PATTERN

#: Where the program may find the one-shot token; it is no setting, because no setting is a secret.
ENROLMENT_TOKEN_VARIABLE = "ROUTELOOM_AGENT_ENROLMENT_TOKEN"  # noqa: S105 - the name of a variable


class AgentSettings(BaseSettings):
    """Settings of one agent, which serves one node from one state directory."""

    model_config = SettingsConfigDict(env_prefix="ROUTELOOM_AGENT_", extra="ignore", frozen=True)

    server_url: str = Field(
        default="http://localhost:8420", description="Where the control server answers; http or https"
    )
    state_directory: Path = Field(
        default=Path("/var/lib/routeloom-agent"), description="Identity key, agent token, lock; mode 0700"
    )
    node_id: str | None = Field(
        default=None,
        pattern=NODE_ID_PATTERN,
        description="The node to enrol as; the token may already say it",
    )
    token_file: Path | None = Field(
        default=None, description="The agent token's file; by default `agent-token` in the state directory"
    )
    log_json: bool = Field(default=False, description="One JSON object a log line, for collectors")
    bird_socket: Path = Field(default=Path("/run/bird/bird.ctl"), description="BIRD's control socket")
    bird_directory: Path = Field(
        default=Path("/etc/bird/routeloom"),
        description="Where generations of BIRD's configuration are written",
    )
    bird_local_directory: Path = Field(
        default=Path("/etc/bird/local"),
        description="The operators' own `*.conf`, included last, never touched",
    )
    confirm_seconds: int = Field(
        default=60,
        ge=10,
        le=600,
        description="Without a confirmation BIRD undoes a new configuration after this",
    )
    pull_seconds: float = Field(
        default=300, gt=0, le=3600, description="The desired state is asked for this often, doorbell or not"
    )
    pass_seconds: float = Field(
        default=60, gt=0, le=3600, description="The host is compared with the desired state this often"
    )
    greatest_table: int = Field(
        default=250_000, ge=1000, description="BIRD's routes are told up to so many; more are only counted"
    )
    concurrent_probes: int = Field(default=10, ge=1, le=100, description="More are answered `busy`")
    greatest_probe_seconds: float = Field(default=300, gt=0, description="Caps what a server may ask for")
    greatest_probe_lines: int = Field(default=20_000, gt=0)
    greatest_probe_bytes: int = Field(default=4_194_304, gt=0)
    greatest_line_bytes: int = Field(default=16_384, ge=64, le=32_768)
    unsent_bytes: int = Field(
        default=16_777_216, gt=0, description="Output kept for a server that is away; then probes end"
    )

    @field_validator("server_url")
    @classmethod
    def _check_server_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("write the server's address as http://host[:port] or https://host[:port]")
        return value.rstrip("/")

    @property
    def socket_url(self) -> str:
        """Where the agent's WebSocket connects."""
        parts = urlsplit(self.server_url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        return urlunsplit((scheme, parts.netloc, f"{parts.path}/api/v1/agent/ws", "", ""))

    @property
    def server_is_local(self) -> bool:
        """Whether the server is on this host; such a link never goes through a proxy."""
        return urlsplit(self.server_url).hostname in {"localhost", "127.0.0.1", "::1"}

    @property
    def purpose(self) -> str:
        """What an agent with these settings is for; one of another purpose is replaced, not adopted."""
        return f"{__version__} {self.server_url}"

    @property
    def token_path(self) -> Path:
        """The file that holds the agent token."""
        return self.token_file or self.state_directory / "agent-token"
