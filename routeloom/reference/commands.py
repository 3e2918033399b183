"""Every command of `routeloom`, from the command line itself."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer.main

from routeloom.reference.markdown import page as whole
from routeloom.reference.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator

_DELEGATED = {
    "control": ("control_server.commands",),
    "auth": ("auth_server.commands",),
    "registry": ("registry_server.commands", "routeloom.cli.registry"),
}
_INTRODUCTION = """`routeloom --help` and `routeloom COMMAND --help` say the same in the terminal. Commands
that ask a server find it by `--server`, else `ROUTELOOM_URL`, else the Lite of this user; their token is
`ROUTELOOM_TOKEN`, else the `admin-token` of that Lite."""
_STATUSES = (
    ("0", "done"),
    ("1", "the server refused, the probe did not end well, or the doctor found something to mend"),
    ("2", "the command was not understood, or no server or token is known"),
    ("3", "the server does not answer"),
    ("69", "something that is needed is not available now; the sentence says what"),
    ("78", "a setting is wrong; the sentence names it"),
    ("130", "interrupted"),
)


def page() -> str:
    """`docs/reference/cli.md`."""
    root = typer.main.get_command(import_module("routeloom.cli.main").app)
    parts = [_section(path, command) for path, command in _walk("routeloom", root)]
    for name, modules in _DELEGATED.items():
        groups = [typer.main.get_command(import_module(module).app) for module in modules]
        # By path: who has used the command in this process has joined its parts already.
        found = {path: command for group in groups for path, command in _walk(f"routeloom {name}", group)}
        parts += [_section(path, found[path]) for path in sorted(found)]
    statuses = f"## Exit status\n\n{table(('status', 'meaning'), _STATUSES)}"
    return whole("Commands", _INTRODUCTION, *parts, statuses)


def _walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = command.make_context(path, [], resilient_parsing=True)
    for name in sorted(command.list_commands(context)):
        if path == "routeloom" and name in _DELEGATED:
            continue
        yield from _walk(f"{path} {name}", command.get_command(context, name))


def _section(path: str, command: Any) -> str:
    rows = [
        (", ".join(f"`{option}`" for option in parameter.opts), _help(parameter))
        for parameter in command.params
        if parameter.name != "help"
    ]
    text = (command.help or "").strip().split("\n\n", 1)[0]
    return f"## `{path}`\n\n{text}" + (f"\n\n{table(('option', 'meaning'), rows)}" if rows else "")


def _help(parameter: Any) -> str:
    return (getattr(parameter, "help", None) or "").split("  ", 1)[0]
