"""Commands whose modules are imported when they are asked for, so that every other command starts at once."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

#: Where each command is: a module, and in it a group of commands or the function of one.
LATE = {
    "probe": "routeloom.cli.probes:app",
    "nodes": "routeloom.cli.nodes:app",
    "peerings": "routeloom.cli.peerings:app",
    "links": "routeloom.cli.links:app",
    "pools": "routeloom.cli.pools:app",
    "generations": "routeloom.cli.generations:app",
    "maintenance": "routeloom.cli.maintenance:maintenance",
    "policy": "routeloom.cli.policy:app",
    "jobs": "routeloom.cli.jobs:app",
    "tokens": "routeloom.cli.tokens:app",
    "health": "routeloom.cli.fleet_state:health",
    "flaps": "routeloom.cli.fleet_state:flaps",
    "incidents": "routeloom.cli.fleet_state:incidents",
    "routes": "routeloom.cli.routing:routes",
    "traffic": "routeloom.cli.traffic:traffic",
    "tiers": "routeloom.cli.tiers:tiers",
    "stack": "routeloom.cli.stack:app",
    "doctor": "routeloom.cli.doctor:doctor",
    "simulate": "routeloom.cli.simulate:simulate",
    "login": "routeloom.cli.login:login",
    "logout": "routeloom.cli.login:logout",
}


class LateCommands(TyperGroup):
    """A group that also has the commands of the table above."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names: those of the table first, in its order."""
        return [*LATE, *(name for name in super().list_commands(ctx) if name not in LATE)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; its module is imported now."""
        if cmd_name in LATE and cmd_name not in self.commands:
            self.add_command(_imported(cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)


def _imported(name: str) -> Any:
    module, _, attribute = LATE[name].partition(":")
    found = getattr(import_module(module), attribute)
    host = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False)
    if not isinstance(found, typer.Typer):
        host.command(name)(found)
        return typer.main.get_command(host)
    host.add_typer(found, name=name)
    groups: Any = typer.main.get_command(host)
    return groups.commands[name]
