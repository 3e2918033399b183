"""Each command of `routeloom`: its help in 80 columns, and how it ends when it cannot do what it is asked."""

import importlib
import uuid
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.main
from typer.testing import CliRunner

from routeloom.cli.main import app
from shared.testing.servers.ports import free_loopback_port

WIDTH = 80
DELEGATED = {"control": "control_server", "auth": "auth_server", "registry": "registry_server"}
#: What these do begins without the server that they speak of.
BEGIN_ALONE = {
    "routeloom login",
    "routeloom logout",
    "routeloom simulate",
    "routeloom links change",
    "routeloom nodes change",
    "routeloom peerings change",
}
#: An id may begin with a hyphen there, so an unknown option is taken for one.
TAKES_HYPHENS = {"routeloom auth keys retire"}
COMPLETION = {"--install-completion", "--show-completion"}


def walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    if not hasattr(command, "list_commands"):
        return
    context = command.make_context(path, [], resilient_parsing=True)
    for name in sorted(command.list_commands(context)):
        if path != "routeloom" or name not in {*DELEGATED, "agent"}:
            yield from walk(f"{path} {name}", command.get_command(context, name))


def every_command() -> dict[str, Any]:
    found = dict(walk("routeloom", typer.main.get_command(app)))
    for name, package in DELEGATED.items():
        group = typer.main.get_command(importlib.import_module(f"{package}.commands").app)
        found |= dict(walk(f"routeloom {name}", group))
    return found


COMMANDS = every_command()
ASKING = {
    path: command
    for path, command in COMMANDS.items()
    if any("--server" in parameter.opts for parameter in command.params) and path not in BEGIN_ALONE
}


def invoke(path: str, *arguments: str, **environment: str) -> Any:
    words = path.split()[1:]
    root: Any = app
    if words and words[0] in DELEGATED:
        root = importlib.import_module(f"{DELEGATED[words[0]]}.commands").app
        words = words[1:]
    return CliRunner().invoke(root, [*words, *arguments], env={"COLUMNS": str(WIDTH), **environment})


def sample(parameter: Any) -> str:
    """A word that the parameter takes."""
    annotation = parameter.type_descriptor.annotation
    kinds = {annotation, *get_args(annotation)}
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Enum):
            return str(next(iter(kind)).value)
    if int in kinds:
        return str(parameter.min or 1)
    return str(uuid.uuid4()) if uuid.UUID in kinds else "x"


def arguments_of(command: Any) -> list[str]:
    """What has to be given, and nothing else."""
    words: list[str] = []
    for parameter in command.params:
        if parameter.required:
            option = parameter.opts[0]
            words += [option, sample(parameter)] if option.startswith("-") else [sample(parameter)]
    return words


class TestHelp:
    @pytest.mark.parametrize("path", COMMANDS)
    def test_says_what_the_command_does_in_80_columns(self, path: str) -> None:
        done = invoke(path, "--help")
        assert done.exit_code == 0, done.output
        assert COMMANDS[path].help, path
        assert max(len(line) for line in done.output.splitlines()) <= WIDTH
        assert "Usage:" in done.output

    def test_the_shell_can_complete_it(self) -> None:
        names = {option for parameter in COMMANDS["routeloom"].params for option in parameter.opts}
        assert names >= COMPLETION

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_completion_knows_the_commands(self, shell: str) -> None:
        words = {"_ROUTELOOM_COMPLETE": f"complete_{shell}", "COMP_WORDS": "routeloom do", "COMP_CWORD": "1"}
        words |= {
            "_TYPER_COMPLETE_ARGS": "routeloom do",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            "_TYPER_COMPLETE_WORD_TO_COMPLETE": "do",
        }
        done = CliRunner().invoke(app, [], env=words, prog_name="routeloom")
        assert "doctor" in done.output


class TestUsage:
    @pytest.mark.parametrize("path", sorted(set(COMMANDS) - TAKES_HYPHENS))
    def test_an_option_that_does_not_exist_ends_with_2(self, path: str) -> None:
        done = invoke(path, "--no-such-option")
        assert done.exit_code == 2
        assert "Traceback" not in done.output

    @pytest.mark.parametrize("path", [path for path in COMMANDS if arguments_of(COMMANDS[path])])
    def test_a_missing_argument_ends_with_2(self, path: str) -> None:
        assert invoke(path).exit_code == 2


class TestWithoutAServer:
    @pytest.fixture(autouse=True)
    def nowhere(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        for name in ("ROUTELOOM_URL", "ROUTELOOM_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("ROUTELOOM_HOME", str(tmp_path))

    @pytest.mark.parametrize("path", ASKING)
    def test_one_that_is_not_known_ends_with_2_and_a_sentence(self, path: str) -> None:
        done = CliRunner().invoke(importlib_root(path), [*rest(path), *arguments_of(ASKING[path])])
        assert done.exit_code == 2, done.output
        assert "No server is known" in done.stderr
        assert done.stdout == ""

    @pytest.mark.parametrize("path", ASKING)
    def test_one_that_does_not_answer_ends_with_3_and_a_sentence(self, path: str) -> None:
        there = {"ROUTELOOM_URL": f"http://localhost:{free_loopback_port()}", "ROUTELOOM_TOKEN": "rlp_x"}
        words = [*rest(path), *arguments_of(ASKING[path])]
        done = CliRunner().invoke(importlib_root(path), words, env=there, input="y\n")
        assert done.exit_code == 3, done.output
        assert "does not answer" in done.stderr
        assert "Traceback" not in done.output


def importlib_root(path: str) -> Any:
    first = path.split()[1]
    if first in DELEGATED:
        if first == "registry":
            commands = importlib.import_module("registry_server.commands")
            importlib.import_module("routeloom.cli.registry").join(commands.app)
        return importlib.import_module(f"{DELEGATED[first]}.commands").app
    return app


def rest(path: str) -> list[str]:
    words = path.split()[1:]
    return words[1:] if words[0] in DELEGATED else words
