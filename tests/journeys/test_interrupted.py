"""Ctrl-C at any moment: the program ends with 130, and tells nothing of its inside."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from node_agent.supervise import stop
from tests.journeys.lite import lite

pytestmark = pytest.mark.processes
ROOT = Path(__file__).resolve().parents[2]

#: Runs a module as `python -m` does and sends it SIGINT at its n-th event (imports, files, sockets and more,
#: as audit hooks are told of them), counted from where it begins to care. Says `late` where it has fewer.
INTERRUPTING = textwrap.dedent("""
    import os, runpy, signal, sys

    wanted, began, seen = int(sys.argv[1]), False, 0
    del sys.argv[:2]

    def count(event, arguments):
        global began, seen
        began = began or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        seen += began
        if began and seen == wanted:
            os.kill(os.getpid(), signal.SIGINT)

    sys.path.insert(0, "")
    sys.addaudithook(count)
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    finally:
        if seen < wanted:
            print("late", file=sys.stderr)
""")
UNREACHABLE = {"ROUTELOOM_URL": "http://127.0.0.1:9", "ROUTELOOM_TOKEN": "rlp_nobody"}


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Whoever starts the tests in the background of a shell lets them ignore SIGINT, and all they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(
    moment: int, *command: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", INTERRUPTING, str(moment), *command],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def check(done: subprocess.CompletedProcess[str]) -> None:
    told = done.stderr.strip().splitlines()
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 130, (done.returncode, done.stderr)
    assert len(told) <= 1, done.stderr


@pytest.mark.parametrize("moment", [1, 900, 2500])
@pytest.mark.parametrize(
    "command",
    [
        ("routeloom", "--help"),
        ("routeloom", "nodes", "list"),
        ("routeloom", "doctor"),
        ("node_agent", "doctor"),
        ("auth_server", "migrate"),
    ],
    ids=" ".join,
)
def test_a_command(command: Sequence[str], moment: int, tmp_path: Path) -> None:
    check(
        interrupted(moment, *command, environment={**UNREACHABLE, "ROUTELOOM_HOME": str(tmp_path / "home")})
    )


@pytest.mark.parametrize("moment", [6000, 14000, 20000])
def test_a_start_of_lite(moment: int, tmp_path: Path) -> None:
    check(interrupted(moment, "routeloom", "lite", "--port", "0", "--home", str(tmp_path / "home")))


def test_a_start_of_lite_that_serves_already_and_then_starts_as_if_nothing_had_been(tmp_path: Path) -> None:
    home = tmp_path / "home"
    try:
        done = interrupted(30_000, "routeloom", "lite", "--port", "0", "--home", str(home))
    finally:
        stop(home / "agent")
    assert done.returncode in {0, 130}, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    with lite(home) as started:
        assert started.run("nodes", "list").returncode == 0


@pytest.mark.parametrize("command", [("routeloom", "--help"), ("setup", "run"), ("control_server", "--help")])
def test_one_that_comes_before_the_interpreter_is_ready_waits_for_it(command: Sequence[str]) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        process.send_signal(signal.SIGINT)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert process.communicate(timeout=100) == ("", "")
    assert process.returncode == 130


def test_a_program_that_is_to_ignore_it_goes_on() -> None:
    ignoring = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = interrupted(1, "routeloom", "--version")
    finally:
        signal.signal(signal.SIGINT, ignoring)
    assert (done.returncode, done.stdout[:9]) == (0, "routeloom")


def test_a_probe_is_cancelled_and_ends_as_interrupted(tmp_path: Path) -> None:
    with lite(tmp_path / "home") as running, running.client() as client:
        command = running.command("probe", "ping", "--node", "demo", "--count", "60", "127.0.0.1")
        process = subprocess.Popen(
            command,
            env={**os.environ, "ROUTELOOM_HOME": str(running.home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline().startswith("PING")
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=100)
        assert (process.returncode, told) == (130, "cancelled\n")
        assert [each["state"] for each in client.get("/api/v1/probes").json()["items"]] == ["cancelled"]
