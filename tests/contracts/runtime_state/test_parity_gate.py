"""Case C30: the gate itself. It fails aloud without its server, and touches nothing that is not its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
