"""What is looked at: the settings of each service that this process can see, and the stack's own files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from auth_server.settings import AuthSettings
from control_server.settings import ControlSettings
from registry_server.settings import RegistrySettings
from routeloom.doctor.findings import Finding, note, problem

Settings = ControlSettings | AuthSettings | RegistrySettings
#: Where a container that speaks for all three services has their settings, one directory each.
CONFIGURATIONS = Path("/run/secrets")
_CLASSES: dict[str, type[Settings]] = {
    "control": ControlSettings,
    "auth": AuthSettings,
    "registry": RegistrySettings,
}


@dataclass(frozen=True, slots=True)
class Deployment:
    """Services by name, and the directory of the compose file where there is one."""

    services: dict[str, Settings]
    compose: Path | None = None
    #: What was met while the settings were read.
    findings: list[Finding] = field(default_factory=list)

    @property
    def public_url(self) -> str:
        """The address that people use; empty where no service says it."""
        return next((settings.web.public_url for settings in self.services.values()), "")

    @property
    def lite(self) -> bool:
        """Whether everything is in SQLite files of one host."""
        urls = [settings.database.url.get_secret_value() for settings in self.services.values()]
        return all(url.startswith("sqlite") for url in urls)


def find_deployment(compose: Path | None, configurations: Path = CONFIGURATIONS) -> Deployment:
    """Read the settings of each service, from variables and from its own file."""
    found = Deployment({}, compose)
    for name, kind in _CLASSES.items():
        try:
            with _configured(configurations / name / "routeloom.toml"):
                found.services[name] = kind()
        except ValidationError as error:
            found.findings.extend(_refused(name, error))
        except (OSError, ValueError) as error:
            text = f"The settings of {name} cannot be read: {error}."
            found.findings.append(problem("settings", text, "mend the file that ROUTELOOM_CONFIG names"))
    return found


@contextmanager
def _configured(file: Path) -> Iterator[None]:
    """With ROUTELOOM_CONFIG set to the file while it is read, if there is one."""
    before = os.environ.get("ROUTELOOM_CONFIG")
    if file.exists():
        os.environ["ROUTELOOM_CONFIG"] = str(file)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("ROUTELOOM_CONFIG", None)
        else:
            os.environ["ROUTELOOM_CONFIG"] = before


def _refused(name: str, error: ValidationError) -> Iterator[Finding]:
    items = error.errors(include_input=False, include_url=False)
    absent = {item["loc"][0] for item in items if item["type"] == "missing"}
    if {"database", "state_directory"} <= absent:
        yield note(
            "settings", f"{name} is not configured here.", f"set ROUTELOOM_{name.upper()}_… to look at it"
        )
        return
    for item in items:
        place = "__".join(str(part) for part in item["loc"]).upper()
        sentence = item["msg"].removeprefix("Value error, ")
        variable = f"ROUTELOOM_{name.upper()}_{place}"
        yield problem(
            "settings", f"{variable}: {sentence}.", f"export {variable}=…   # or in the settings' file"
        )
