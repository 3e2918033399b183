"""Settings of registry_server: `ROUTELOOM_REGISTRY_…` variables and an optional TOML file, built once."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from registry_server.mirror.schemas import MirrorSettings
from registry_server.roas.schemas import RoaSettings, RtrSettings
from registry_server.whois.schemas import WhoisSettings
from shared.cache import TierSettings
from shared.database import DatabaseSettings
from shared.runtime_state import RuntimeStateSettings
from shared.web.settings import SettingsFromEnvironment, WebSettings

UNCONFIGURED = TierSettings.model_validate({})


class RegistrySettings(SettingsFromEnvironment):
    """Everything that registry_server can be told."""

    model_config = SettingsConfigDict(env_prefix="ROUTELOOM_REGISTRY_")
    table: ClassVar[str] = "registry"

    web: WebSettings = WebSettings(port=8422)
    database: DatabaseSettings
    cache: TierSettings = Field(default=UNCONFIGURED, description="Redis; without a URL not configured")
    runtime_state: RuntimeStateSettings = Field(default_factory=RuntimeStateSettings)
    state_directory: Path = Field(
        description="Private directory for the mirrored repository and, in Lite, databases"
    )
    fleet_name: str = Field(default="loom-net", max_length=40, description="Name shown on the pages")
    mirror: MirrorSettings = MirrorSettings()
    whois: WhoisSettings = WhoisSettings()
    roas: RoaSettings = RoaSettings()
    rtr: RtrSettings = RtrSettings()
    shared_maintainers: tuple[str, ...] = Field(
        default=("DN42-MNT", "DUMMY-MNT"),
        description="Maintainers that many hands share: their names never prove ownership",
    )
    token_digests: tuple[str, ...] = Field(
        default=(),
        description="SHA-256 in hex of each `rlp_…` token that may ask for a sync here",
    )

    @property
    def repository_directory(self) -> Path:
        """Where the mirrored repository is kept."""
        return self.state_directory / "registry.git"

    @property
    def sample_directory(self) -> Path:
        """Where a made-up registry is kept for those who have none."""
        return self.state_directory / "registry-sample"

    @property
    def follows_sample(self) -> bool:
        """Whether it is that one which is mirrored."""
        return self.mirror.url is not None and self.mirror.url.get_secret_value() == str(
            self.sample_directory
        )
