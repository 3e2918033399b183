"""The settings of the three services in Lite, derived from one state directory and one port."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from control_server.settings import ControlSettings
from shared.runtime_state import RuntimeStateSettings
from shared.web.logs import LogFormat
from shared.web.settings import WebSettings

if TYPE_CHECKING:
    from auth_server.settings import AuthSettings
    from registry_server.settings import RegistrySettings
    from routeloom.lite.home import Home

#: Where Lite serves whois clients and routers, unless a variable says otherwise; none of them needs rights.
WHOIS_PORT, RTR_PORT = 4343, 8282


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where people find Lite, and where this machine does."""

    public: str
    local: str

    @property
    def behind_proxy(self) -> bool:
        """Whether a proxy of this host stands in front, which then says who asks."""
        return self.public != self.local


@dataclass(frozen=True, slots=True)
class LiteSettings:
    """What the services of one Lite are told: SQLite, no tiers, one worker, loopback, state in memory.

    Each service's own are made when it comes up, because their modules are imported with it.
    """

    home: Home
    addresses: Addresses
    web: WebSettings
    runtime_state: RuntimeStateSettings

    def control(self) -> ControlSettings:
        """Those of control_server."""
        return ControlSettings.model_validate(
            {
                **self._common("control"),
                "runtime_state": self.runtime_state,
                "auth_url": self.addresses.local,
                "registry_url": self.addresses.local,
                "jobs": {"in_process": True, "registry_sync_every": 900},
            }
        )

    def auth(self) -> AuthSettings:
        """Those of auth_server."""
        from auth_server.settings import AuthSettings  # noqa: PLC0415 - it comes with its service

        return AuthSettings.model_validate({**self._common("auth"), "registry_url": self.addresses.local})

    def registry(self) -> RegistrySettings:
        """Those of registry_server."""
        from registry_server.settings import RegistrySettings  # noqa: PLC0415 - it comes with its service

        return RegistrySettings.model_validate(
            {
                **self._common("registry"),
                **_upstream(self.home),
                "runtime_state": self.runtime_state,
                **_port("whois", WHOIS_PORT),
                **_port("rtr", RTR_PORT),
            }
        )

    def _common(self, service: str) -> dict[str, Any]:
        return {
            "web": self.web,
            "database": {"url": self.home.database(service)},
            "state_directory": self.home.root,
        }


def lite_settings(home: Home, addresses: Addresses, log_level: str) -> LiteSettings:
    """The settings of a Lite there. Raises ValueError for a public address that is not one."""
    web = WebSettings(
        public_url=addresses.public,
        host="127.0.0.1",
        trusted_proxies="127.0.0.1,::1" if addresses.behind_proxy else "",
        log_level=log_level,
        log_format=LogFormat.CONSOLE,
    )
    state = RuntimeStateSettings.model_validate({"url": "memory://lite"})
    return LiteSettings(home, addresses, web, state)


def _port(protocol: str, usual: int) -> dict[str, dict[str, int]]:
    chosen = f"ROUTELOOM_REGISTRY_{protocol.upper()}__PORT"
    return {} if chosen in os.environ else {protocol: {"port": usual}}


def _upstream(home: Home) -> dict[str, dict[str, str]]:
    """The made-up registry, unless a variable names another, or none by being empty."""
    chosen = "ROUTELOOM_REGISTRY_MIRROR__URL" in os.environ
    return {} if chosen else {"mirror": {"url": str(home.sample_registry)}}
