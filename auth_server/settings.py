"""Settings of auth_server: `ROUTELOOM_AUTH_…` variables and an optional TOML file, built once."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from shared.cache import TierSettings
from shared.database import DatabaseSettings
from shared.web.settings import SettingsFromEnvironment, WebSettings

UNCONFIGURED = TierSettings.model_validate({})


class AuthSettings(SettingsFromEnvironment):
    """Everything that auth_server can be told."""

    model_config = SettingsConfigDict(env_prefix="ROUTELOOM_AUTH_")
    table: ClassVar[str] = "auth"

    web: WebSettings = WebSettings(port=8421)
    database: DatabaseSettings
    kv: TierSettings = Field(default=UNCONFIGURED, description="Valkey; without a URL not configured")
    cache: TierSettings = Field(default=UNCONFIGURED, description="Redis; without a URL not configured")
    state_directory: Path = Field(description="Private directory for secrets and, in Lite, databases")
    fleet_name: str = Field(default="loom-net", max_length=40, description="Name shown on the pages")
