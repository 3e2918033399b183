"""Commands that are imported when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from routeloom.cli.late import LATE
from routeloom.cli.main import app


@pytest.mark.parametrize("name", sorted(LATE))
def test_each_of_them_is_there_and_explains_itself(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "80"})
    assert shown.exit_code == 0, shown.output
    assert f"routeloom {name}" in " ".join(shown.output.split()) or f" {name} [" in shown.output
    assert "--install-completion" not in shown.output


def test_help_lists_them_with_the_others() -> None:
    shown = CliRunner().invoke(app, ["--help"])
    assert {*LATE, "lite", "control"} <= set(shown.output.replace("│", " ").split())


def test_an_unknown_command_is_refused_by_name() -> None:
    answer = CliRunner().invoke(app, ["nodez"])
    assert (answer.exit_code, "nodez" in answer.output) == (2, True)


def test_one_command_does_not_import_the_others() -> None:
    program = (
        "import sys, typer; from routeloom.cli.main import app; c = typer.main.get_command(app);"
        "c.main(['--version'], standalone_mode=False);"
        "print(sorted(n for n in sys.modules if n.startswith('routeloom.cli.')))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "routeloom.cli.peerings" not in said


def test_the_table_names_only_what_exists() -> None:
    command = typer.main.get_command(app)
    context = command.make_context("routeloom", [], resilient_parsing=True)
    assert all(command.get_command(context, name) is not None for name in LATE)  # type: ignore[attr-defined]
