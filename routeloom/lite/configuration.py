"""The settings of the three services in Lite, derived from one state directory and one port."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auth_server.settings import AuthSettings
from control_server.settings import ControlSettings
from registry_server.settings import RegistrySettings
from shared.runtime_state import RuntimeStateSettings
from shared.web.logs import LogFormat
from shared.web.settings import WebSettings

if TYPE_CHECKING:
    from routeloom.lite.home import Home

#: Where Lite serves whois clients and routers, unless a variable says otherwise; none of them needs rights.
WHOIS_PORT, RTR_PORT = 4343, 8282


@dataclass(frozen=True, slots=True)
class LiteSettings:
    """One for each service."""

    control: ControlSettings
    auth: AuthSettings
    registry: RegistrySettings


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where people find Lite, and where this machine does."""

    public: str
    local: str

    @property
    def behind_proxy(self) -> bool:
        """Whether a proxy of this host stands in front, which then says who asks."""
        return self.public != self.local


def lite_settings(home: Home, addresses: Addresses, log_level: str) -> LiteSettings:
    """Fixed choices of Lite: SQLite, no tiers, one worker, loopback, runtime state in memory.

    Raises ValueError for a public address that is not one.
    """
    web = WebSettings(
        public_url=addresses.public,
        host="127.0.0.1",
        trusted_proxies="127.0.0.1,::1" if addresses.behind_proxy else "",
        log_level=log_level,
        log_format=LogFormat.CONSOLE,
    )
    state = RuntimeStateSettings.model_validate({"url": "memory://lite"})
    return LiteSettings(
        control=ControlSettings.model_validate(
            {
                "web": web,
                "database": {"url": home.database("control")},
                "state_directory": home.root,
                "runtime_state": state,
                "auth_url": addresses.local,
                "registry_url": addresses.local,
                "jobs": {"in_process": True, "registry_sync_every": 900},
            }
        ),
        auth=AuthSettings.model_validate(
            {
                "web": web,
                "database": {"url": home.database("auth")},
                "state_directory": home.root,
                "registry_url": addresses.local,
            }
        ),
        registry=_registry(home, web, state),
    )


def _registry(home: Home, web: WebSettings, state: RuntimeStateSettings) -> RegistrySettings:
    return RegistrySettings.model_validate(
        {
            "web": web,
            "database": {"url": home.database("registry")},
            "state_directory": home.root,
            "mirror": {"url": str(home.sample_registry)},
            "runtime_state": state,
            **_port("whois", WHOIS_PORT),
            **_port("rtr", RTR_PORT),
        }
    )


def _port(protocol: str, usual: int) -> dict[str, dict[str, int]]:
    chosen = f"ROUTELOOM_REGISTRY_{protocol.upper()}__PORT"
    return {} if chosen in os.environ else {protocol: {"port": usual}}
