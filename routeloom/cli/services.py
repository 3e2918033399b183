"""The services' own commands: in Lite their settings are those of its state directory."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

from routeloom.lite.home import Home, default_home
from shared.kernel.files import read_text_loosely

if TYPE_CHECKING:
    import typer


def delegate(context: typer.Context, service: str) -> None:
    """Run a command of `<service>_server`, with the settings of this user's Lite where none are given."""
    lend_settings(service, Home(default_home()))
    commands = importlib.import_module(f"{service}_server.commands")
    commands.app(args=context.args, prog_name=f"routeloom {service}")


def lend_settings(service: str, home: Home) -> None:
    """Set the variables of a service from Lite's directory, unless a setting says where its database is."""
    prefix = f"ROUTELOOM_{service.upper()}_"
    if f"{prefix}DATABASE__URL" in os.environ or "ROUTELOOM_CONFIG" in os.environ:
        return
    if not (home.root / f"{service}.db").exists():
        return
    lent = {
        "DATABASE__URL": home.database(service),
        "STATE_DIRECTORY": str(home.root),
        "WEB__LOG_LEVEL": "WARNING",
        "WEB__LOG_FORMAT": "console",
    }
    if home.address.exists():
        lent["WEB__PUBLIC_URL"] = read_text_loosely(home.address)
    if service == "registry" and home.upstream.exists():
        lent["MIRROR__URL"] = home.upstream.read_text(errors="ignore").strip()
    for name, value in lent.items():
        os.environ.setdefault(prefix + name, value)
