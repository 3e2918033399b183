"""The shipped compose file, brought up in the order that it says itself."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from tests.stack.engine import COMPOSE, PROJECT, Engine, compose, say
from tests.stack.images import OURS, stand_in

PORT = 8420
URL = f"http://localhost:{PORT}"
_SETTINGS = f"""\
ROUTELOOM_HOST=localhost
ROUTELOOM_PUBLIC_URL={URL}
ROUTELOOM_SITE=:80
ROUTELOOM_HTTP_PORT=127.0.0.1:{PORT}
ROUTELOOM_HTTPS_PORT=127.0.0.1:8443
ROUTELOOM_WHOIS_PORT=127.0.0.1:43
ROUTELOOM_RTR_PORT=127.0.0.1:8282
ROUTELOOM_PROBE_TARGETS=dn42
ROUTELOOM_IMAGE={OURS}
POSTGRES_IMAGE={stand_in("postgres")}
VALKEY_IMAGE={stand_in("valkey")}
REDIS_IMAGE={stand_in("redis")}
CADDY_IMAGE={stand_in("caddy")}
CAP_IMAGE={stand_in("cap")}
"""
#: What podman 4.3 needs said, and nothing of it changes what is run.
_OVERRIDE: dict[str, Any] = {"x-podman": {"name_separator_compat": True, "in_pod": False}}
_PATIENCE = 240


class NeverCame(AssertionError):
    """A container did not become what the next one waits for."""


@dataclass
class Installation:
    """The containers of one compose file."""

    engine: Engine
    file: Path = COMPOSE / "compose.yaml"
    services: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.services = yaml.safe_load(self.file.read_text())["services"]
        self.settings = self.engine.state / "settings.env"
        self.settings.write_text(_SETTINGS)
        self._override = self.engine.state / "override.yaml"
        changed = {
            name: {"logging": {"driver": "k8s-file", "options": {"max-size": "10m"}}}
            for name in self.services
        }
        self._override.write_text(yaml.safe_dump(_OVERRIDE | {"services": changed}))

    def compose(self, *words: str, check: bool = True) -> str:
        return compose(self.engine, [self.file, self._override], self.settings, *words, check=check)

    def container(self, service: str) -> str:
        return f"{PROJECT}-{service}-1"

    def up(self) -> None:
        """Start each service once what it depends on is as it says: completed, or healthy."""
        for wave in self.waves():
            for service in wave:
                for needed, how in self._needs(service).items():
                    self.await_condition(needed, how)
            self.compose("up", "-d", "--no-build", "--no-deps", *wave)
            say(f"  started {', '.join(wave)}")

    def waves(self) -> list[list[str]]:
        """Services that may start together, after all that they depend on."""
        started: set[str] = set()
        found: list[list[str]] = []
        while len(started) < len(self.services):
            wave = [
                name for name in self.services if name not in started and set(self._needs(name)) <= started
            ]
            assert wave, "the services wait for one another in a circle"
            found.append(wave)
            started |= set(wave)
        return found

    def _needs(self, service: str) -> dict[str, str]:
        wanted = self.services[service].get("depends_on", {})
        return {name: condition["condition"] for name, condition in wanted.items()}

    def await_condition(self, service: str, condition: str) -> None:
        """Wait for `service_healthy` or `service_completed_successfully`."""
        name = self.container(service)
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            state = self.engine.inspect(name)["State"]
            if condition == "service_completed_successfully":
                if state["Status"] == "exited" and state["ExitCode"] == 0:
                    return
                if state["Status"] == "exited":
                    break
            elif state["Running"] and self.engine.healthy(name):
                return
            time.sleep(0.5)
        raise NeverCame(f"{service}: not {condition}\n{self.logs(service)}")

    def await_all_healthy(self) -> None:
        for service, described in self.services.items():
            if "healthcheck" in described:
                self.await_condition(service, "service_healthy")

    def logs(self, service: str) -> str:
        return self.engine.run("podman", "logs", "--tail", "60", self.container(service), check=False).stdout

    def restarts(self) -> dict[str, int]:
        """How often each container was restarted by itself."""
        return {
            service: self.engine.inspect(self.container(service))["RestartCount"]
            for service in self.services
            if self.services[service].get("restart") != "no"
        }

    def down(self) -> None:
        self.compose("down", "-v", "-t", "5")
