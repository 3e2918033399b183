"""Case C30: the gate itself. It fails aloud without its server, and touches nothing that is not its own."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.runtime_state.language import read_rows
from tests.contracts.runtime_state.subjects import (
    REQUIRED_VARIABLE,
    SERVER_VARIABLE,
    ParityServerUnfit,
    ServerSubject,
    fit_url,
    server_names,
    server_subject,
)

ROOT = Path(__file__).resolve().parents[3]
ONE_TEST = "tests/contracts/test_runtime_state_adapter.py::TestC16Batch::test_an_empty_one_does_nothing"

#: Rows about the servers and rows of the contract; the gaps are numbers that were never given.
SERVER_ROWS = {*range(1, 71)} - {15, 59, 60}
CONTRACT_ROWS = {*range(1, 31)}
CASES = (
    "tests/contracts/test_runtime_state_adapter.py",
    "tests/contracts/runtime_state",
    "tests/unit/shared/runtime_state",
)


def names_in(places: tuple[str, ...]) -> str:
    """The names of all tests there, and what the modules say that they are about."""
    files = [
        file
        for place in places
        for file in ([ROOT / place] if place.endswith(".py") else (ROOT / place).glob("test_*.py"))
    ]
    said = []
    for file in files:
        module = ast.parse(file.read_text(encoding="utf-8"))
        said.append(ast.get_docstring(module) or "")
        named = (
            node
            for node in ast.walk(module)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        )
        said += [node.name for node in named]
    return "\n".join(said)


def test_every_row_of_the_cases_has_a_test() -> None:
    said = names_in(CASES)
    servers = {int(number) for number in re.findall(r"row_(\d+)", names_in(CASES[1:2]))}
    servers |= {int(re.sub(r"\D", "", row.number)) for row in read_rows("server_rows.txt")}
    assert servers == SERVER_ROWS
    contract = {int(number) for number in re.findall(r"(?:Test|_|\b)[Cc](\d+)", said)}
    contract |= {
        int(row.number[1:].rstrip("abcd")) for row in read_rows("contract_rows.txt") if row.number[0] == "C"
    }
    assert contract == CONTRACT_ROWS


def run_parity(url: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {SERVER_VARIABLE: url, REQUIRED_VARIABLE: "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", ONE_TEST]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.parametrize("database", ["", "/", "/0", "/15", "/x"])
def test_refuses_the_databases_of_others(database: str) -> None:
    with pytest.raises(ParityServerUnfit):
        fit_url(f"redis://127.0.0.1:6379{database}")


def test_uses_the_server_that_was_named_and_else_its_own() -> None:
    assert server_names({SERVER_VARIABLE: "redis://127.0.0.1/7"}) == ["given"]
    assert server_names({SERVER_VARIABLE: ""}) == ["valkey", "redis"]
    assert server_names({}) == ["valkey", "redis"]


def test_a_missing_server_fails_and_is_never_a_skip() -> None:
    done = run_parity("redis://127.0.0.1:1/7")
    assert done.returncode == 1
    assert "the parity server does not answer" in done.stdout
    assert "skipped" not in done.stdout


async def test_removes_its_own_keys_only(server: ServerSubject) -> None:
    await server.client.set("mine", "v")
    async with server_subject(server.url) as other:
        await other.client.set("theirs", "v")
        await other.client.hset("their hash", {"f": 1})
        mark = other.prefix
    assert [key async for key in server.raw.scan_iter(match=f"{mark}*")] == []
    assert await server.client.get("mine") == b"v"
