"""The HTTP interface of each service, as OpenAPI."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from auth_server.app import create_app as create_auth
from auth_server.settings import AuthSettings
from control_server.app import create_app as create_control
from control_server.settings import ControlSettings
from registry_server.app import create_app as create_registry
from registry_server.settings import RegistrySettings

if TYPE_CHECKING:
    from fastapi import FastAPI


def pages() -> dict[str, str]:
    """One JSON document for each service."""
    return {
        f"openapi-{name}.json": json.dumps(app.openapi(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        for name, app in applications().items()
    }


def applications() -> dict[str, FastAPI]:
    """The three applications with settings that open nothing."""
    nowhere = Path(tempfile.gettempdir()) / "routeloom-reference"
    common = {"database": {"url": f"sqlite:///{nowhere}/none.db"}, "state_directory": nowhere}
    return {
        "control": create_control(ControlSettings.model_validate(common)),
        "auth": create_auth(AuthSettings.model_validate(common)),
        "registry": create_registry(RegistrySettings.model_validate(common)),
    }
