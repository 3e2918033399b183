"""Parts of Lite and of the command line that need no server."""

import asyncio
import errno
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from routeloom.cli.main import app
from routeloom.lite.dispatcher import Dispatcher
from routeloom.lite.errors import HomeNotOurs, HomeNotWritable, NoLoopback, PortTaken
from routeloom.lite.home import Home, default_home
from routeloom.lite.local_agent import what_came_of
from routeloom.lite.ports import listen_on_loopback
from routeloom.lite.welcome import protocol_ports
from shared.database.lock import AlreadyRunning, InstanceLock
from shared.listeners import Connection, Listener, ListenerSettings


def test_loopback_is_listened_to_in_both_families_on_one_port() -> None:
    listeners = listen_on_loopback(0)
    try:
        ports = {each.getsockname()[1] for each in listeners}
        assert len(ports) == 1
        assert listeners[0].getsockname()[0] == "127.0.0.1"
    finally:
        for each in listeners:
            each.close()


@pytest.mark.parametrize("missing", [socket.AF_INET, socket.AF_INET6])
def test_a_host_may_have_a_loopback_of_one_family_only(
    missing: socket.AddressFamily, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = socket.socket

    def open_one(family: socket.AddressFamily, *arguments: int) -> socket.socket:
        if family is missing:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return opened(family, *arguments)

    monkeypatch.setattr("routeloom.lite.ports.socket.socket", open_one)
    (only,) = listen_on_loopback(0)
    only.close()
    assert only.family is not missing


def test_a_host_without_any_loopback_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> socket.socket:
        raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")

    monkeypatch.setattr("routeloom.lite.ports.socket.socket", refuse)
    with pytest.raises(NoLoopback, match="lo up"):
        listen_on_loopback(0)


def test_a_level_of_logs_that_is_none_is_a_wrong_option() -> None:
    done = CliRunner().invoke(app, ["lite", "--log-level", "nonsense"])
    assert done.exit_code == 2
    assert "log-level" in done.stderr


@pytest.mark.processes
def test_what_the_operating_system_refuses_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "routeloom", "--help"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (69, "routeloom: No space left on device.\n")


def test_a_taken_port_names_the_remedy() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(PortTaken, match="--port or PORT"):
            listen_on_loopback(other.getsockname()[1])


def test_a_home_that_cannot_be_made_names_the_remedy() -> None:
    with pytest.raises(HomeNotWritable, match="ROUTELOOM_HOME"):
        Home(Path("/proc/routeloom")).prepare()


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(HomeNotOurs, match="holds other things"):
        Home(tmp_path).prepare()
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    Home(tmp_path / "new").prepare()
    (tmp_path / "new" / "lite.lock").touch()
    (tmp_path / "new" / "control.db").touch()
    Home(tmp_path / "new").prepare()


def test_the_home_is_where_the_variables_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ROUTELOOM_HOME", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_home() == tmp_path / "routeloom"
    monkeypatch.setenv("ROUTELOOM_HOME", str(tmp_path / "mine"))
    assert default_home() == tmp_path / "mine"


def test_one_directory_has_one_process(tmp_path: Path) -> None:
    with InstanceLock(tmp_path / "lock"), pytest.raises(AlreadyRunning, match="in use by process"):
        InstanceLock(tmp_path / "lock").__enter__()
    with InstanceLock(tmp_path / "lock"):
        pass


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("/", "control"),
        ("/api/v1/nodes", "control"),
        ("/authority", "control"),
        ("/auth", "auth"),
        ("/auth/authorize", "auth"),
        ("/.well-known/oauth-authorization-server/auth", "auth"),
        ("/registry/api/v1/status", "registry"),
        ("/registryx", "control"),
        ("/metrics/runtime-state", "control"),
    ],
)
def test_each_path_has_one_owner(path: str, owner: str) -> None:
    apps = {name: FastAPI(title=name) for name in ("control", "auth", "registry")}
    dispatcher = Dispatcher(apps["control"], apps["auth"], apps["registry"])
    assert dispatcher._owner(path) is apps[owner]


@pytest.mark.parametrize("arguments", [["--help"], ["probe", "--help"], ["lite", "--help"], ["--version"]])
def test_help_is_there_without_any_server(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


def test_without_a_server_the_command_line_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROUTELOOM_HOME", str(tmp_path))
    monkeypatch.delenv("ROUTELOOM_URL", raising=False)
    result = CliRunner().invoke(app, ["nodes", "list"])
    assert result.exit_code == 2
    assert "routeloom lite" in result.output
    monkeypatch.setenv("ROUTELOOM_URL", "http://localhost:9")
    monkeypatch.setenv("ROUTELOOM_TOKEN", "rlp_x")
    result = CliRunner().invoke(app, ["nodes", "list"])
    assert result.exit_code == 3
    assert "does not answer" in result.output


def test_files_that_are_no_text_stop_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROUTELOOM_HOME", str(tmp_path))
    monkeypatch.delenv("ROUTELOOM_URL", raising=False)
    monkeypatch.delenv("ROUTELOOM_TOKEN", raising=False)
    (tmp_path / "address").write_bytes(b"http://localhost:9\0\n")
    (tmp_path / "admin-token").write_bytes(b"\xff\xfe\n")
    result = CliRunner().invoke(app, ["nodes", "list"])
    assert result.exit_code in {2, 3}
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("before", "enrolled_now", "told"),
    [
        (None, True, "started"),
        (7, False, "adopted"),
        (None, False, "started anew, for the earlier one no longer ran"),
        (6, False, "started in place of 6, which was of another version or for another address"),
    ],
)
def test_the_welcome_says_how_the_agent_came_to_run(
    before: int | None, enrolled_now: bool, told: str
) -> None:
    assert what_came_of(before, 7, enrolled_now=enrolled_now) == told


async def test_the_ports_of_the_registry_are_told_as_they_are() -> None:
    async def for_ever() -> None:
        await asyncio.Event().wait()

    def at(port: int | None) -> ListenerSettings:
        return ListenerSettings(port=port, hosts=("127.0.0.1",))

    with socket.create_server(("127.0.0.1", 0)) as other:
        held = other.getsockname()[1]
        ports = {
            "whois": Listener("whois", at(0), Connection, opening=for_ever),
            "rtr": Listener("rtr", at(held), Connection),
            "off": Listener("off", at(None), Connection),
        }
        registry = FastAPI()
        registry.state.ports = ports
        serving = [asyncio.create_task(ports[name].serve()) for name in ("whois", "rtr")]
        told = await protocol_ports(registry)
        assert told == f"whois on port {ports['whois'].port}; rtr not served, port {held} is in use"
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
