"""Lite as a process: start, refusals, stop, crash, adoption of its agent, and no network at all."""

import json
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.testing.waiting import wait_until
from tests.journeys.lite import Lite, lite
from tests.journeys.namespaces import namespace

pytestmark = pytest.mark.processes


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Lite]:
    with lite(tmp_path / "home") as started:
        yield started


def attempt(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "routeloom", "lite", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


async def test_it_runs_a_probe_for_the_command_line_and_keeps_it(running: Lite) -> None:
    done = running.run("probe", "ping", "--node", "demo", "--count", "2", "127.0.0.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("icmp_seq=") == 2
    events = running.run("probe", "traceroute", "--node", "demo", "--json", "127.0.0.1")
    names = [json.loads(line)["event"] for line in events.stdout.splitlines()]
    assert names[-1] == "done"
    assert "output" in names
    listed = json.loads(running.run("nodes", "list", "--json").stdout)
    assert [node["liveness"] for node in listed["items"]] == ["online"]
    refused = running.run("probe", "ping", "--node", "nowhere", "127.0.0.1")
    assert refused.returncode == 1
    assert "nowhere" in refused.stderr


def test_a_new_link_is_made_as_the_welcome_says(running: Lite) -> None:
    made = running.run("control", "session-link")
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith(f"{running.url}/session-link/rls_")
    assert made.stderr == ""


def test_its_state_is_private(running: Lite) -> None:
    assert stat.S_IMODE(running.home.stat().st_mode) == 0o700
    for name in ("admin-token", "address"):
        assert stat.S_IMODE((running.home / name).stat().st_mode) == 0o600
    databases = list(running.home.glob("*.db*"))
    assert len(databases) >= 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in databases} == {0o600}
    assert running.token not in running.printed


def test_health_without_tiers_is_ok(running: Lite) -> None:
    with running.client() as client:
        for prefix in ("", "/auth", "/registry"):
            assert client.get(f"{prefix}/healthz").json()["status"] == "ok"
            assert client.get(f"{prefix}/readyz").json()["database"] == "sqlite"
        status = client.get("/registry/api/v1/status").json()
        assert status["commit"]


def test_a_second_instance_on_the_same_state_is_one_sentence(running: Lite) -> None:
    second = attempt("--port", "0", "--home", str(running.home))
    assert second.returncode != 0
    assert f"in use by process {running.process.pid if running.process else 0}" in second.stderr
    assert len(second.stderr.strip().splitlines()) == 1
    assert running.run("nodes", "list").returncode == 0


def test_a_taken_port_is_one_sentence_and_damages_nothing(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = attempt("--port", str(port), "--home", str(tmp_path / "home"))
    assert refused.returncode != 0
    assert f"Port {port} is in use" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert not list((tmp_path / "home").glob("*.db"))


def test_a_place_that_cannot_be_written_is_one_sentence() -> None:
    refused = attempt("--port", "0", "--home", "/proc/routeloom")
    assert refused.returncode != 0
    assert "/proc/routeloom cannot be written" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


async def test_it_stops_cleanly_and_the_next_start_adopts_the_agent(running: Lite) -> None:
    assert running.run("probe", "ping", "--node", "demo", "--count", "1", "127.0.0.1").returncode == 0
    agent = running.agent_pid
    assert agent is not None
    token = running.token
    assert running.end(signal.SIGINT) == 0
    assert "Traceback" not in running.printed
    assert running.agent_pid == agent
    running.start()
    assert (running.agent_pid, running.token) == (agent, token)
    assert "adopted" in running.printed
    with running.client() as client:
        await wait_until(lambda: client.get("/api/v1/nodes/demo").json()["liveness"] == "online")
        assert len(client.get("/api/v1/probes").json()["items"]) == 1


async def test_killed_in_mid_probe_there_is_one_end_with_a_reason(running: Lite) -> None:
    with running.client() as client:
        wanted = {"nodes": ["demo"], "tool": "ping", "target": "127.0.0.1", "options": {"count": 60}}
        probe = client.post("/api/v1/probes", json=wanted).json()
        path = f"/api/v1/probes/{probe['id']}"
        await wait_until(lambda: len(client.get(path).json()["lines"]) >= 2)
    running.end(signal.SIGKILL)
    running.start()
    with running.client() as client:
        await wait_until(lambda: client.get(path).json()["finished_at"] is not None)
        read = client.get(path).json()
        assert (read["state"], read["reason"]) == ("failed", "server_restarted")
        assert not read["complete"]
        assert read["missing"]
        stream = client.get(f"{path}/stream").text
        assert stream.count("event: done") == 1
        await wait_until(lambda: client.get("/api/v1/nodes/demo").json()["liveness"] == "online")
    again = running.run("probe", "ping", "--node", "demo", "--count", "1", "127.0.0.1")
    assert again.returncode == 0, again.stderr


def test_it_needs_no_network(tmp_path: Path) -> None:
    with namespace() as apart, lite(tmp_path / "home", prefix=apart.prefix) as started:
        done = started.run("probe", "ping", "--node", "demo", "--count", "1", "127.0.0.1")
        assert done.returncode == 0, done.stderr


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB that is full."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", place], check=True)
    try:
        (place / "fill").write_bytes(b"\0" * 2_900_000)
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def test_a_full_disk_is_one_sentence_and_damages_nothing(small: Path) -> None:
    refused = attempt("--port", "0", "--home", str(small / "home"))
    assert refused.returncode == 69
    assert "full" in refused.stderr or "No space left" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    (small / "fill").unlink()
    subprocess.run(["mount", "-o", "remount,size=200m", small], check=True)
    with lite(small / "home") as started:
        assert started.run("nodes", "list").returncode == 0
