"""Settings that every HTTP service has."""

from __future__ import annotations

import os
import tomllib
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from shared.web.logs import LogFormat


class WebSettings(BaseModel):
    """How a service is reached and how it speaks of itself."""

    model_config = ConfigDict(frozen=True)

    public_url: str = Field(
        default="http://localhost:8420",
        description="The one origin that people use: scheme, host and port, without a path. "
        "Links, cookies, passkeys and the token issuer hang on it; never taken from a request",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on")
    port: int = Field(default=8420, ge=0, le=65535, description="Port to listen on")
    workers: int = Field(default=1, ge=1, le=64, description="Processes of this service on this host")
    trusted_proxies: str = Field(
        default="", description="Addresses or networks, by comma, whose X-Forwarded-* is believed"
    )
    streams: int = Field(default=2000, ge=1, description="Open event streams of one process")
    log_level: str = Field(default="INFO", pattern="^(DEBUG|INFO|WARNING|ERROR)$")
    log_format: LogFormat = LogFormat.JSON

    @field_validator("trusted_proxies")
    @classmethod
    def _known_networks(cls, value: str) -> str:
        for named in filter(None, (part.strip() for part in value.split(","))):
            try:
                everybody = ip_network(named).prefixlen == 0
            except ValueError:
                everybody = named == "*"
                if not everybody:
                    message = f"{named} is no address or network; name your proxy's, such as 192.0.2.1"
                    raise ValueError(message) from None
            if everybody:
                message = f"{named} would let everybody choose the address that counts; name your proxy's"
                raise ValueError(message)
        return value

    @field_validator("public_url")
    @classmethod
    def _an_origin(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            message = "needs a scheme and a host, such as https://loom.example"
            raise ValueError(message)
        if parts.path not in {"", "/"} or parts.query or parts.fragment or parts.username:
            message = "is an origin: no path, query, fragment or user"
            raise ValueError(message)
        if parts.scheme == "http" and parts.hostname != "localhost":
            message = "must be https unless the host is localhost: passkeys and secure cookies need it"
            raise ValueError(message)
        if _is_address(parts.hostname):
            message = "needs a name, not an address: passkeys are bound to names"
            raise ValueError(message)
        return value.rstrip("/")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


class SettingsFromEnvironment(BaseSettings):
    """Base of a service's settings: variables win over the table of the service in `ROUTELOOM_CONFIG`.

    A subclass names its variables' prefix in `model_config` and its table in `table`.
    """

    model_config = SettingsConfigDict(env_nested_delimiter="__", frozen=True, extra="ignore")
    table: ClassVar[str] = ""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then variables, then the file."""
        del dotenv_settings, file_secret_settings
        path = os.environ.get("ROUTELOOM_CONFIG")
        if not path:
            return init_settings, env_settings
        with Path(path).open("rb") as file:
            document = tomllib.load(file)
        defaults = InitSettingsSource(settings_cls, init_kwargs=document.get(cls.table, {}))
        return init_settings, env_settings, defaults
