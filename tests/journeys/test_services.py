"""Each service alone, as `python -m SERVICE VERB`, on both databases."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
import pytest

from shared.testing.servers import PostgresServer
from shared.testing.waiting import wait_until

pytestmark = pytest.mark.processes

SERVICES = {"control": "", "auth": "/auth", "registry": "/registry"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def settings_of(name: str, database: str, directory: Path) -> dict[str, str]:
    prefix = f"ROUTELOOM_{name.upper()}_"
    return {
        f"{prefix}DATABASE__URL": database,
        f"{prefix}STATE_DIRECTORY": str(directory),
        f"{prefix}WEB__PORT": str(free_port()),
    }


def command(name: str, verb: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"{name}_server", verb],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'service.db'}"
        return
    request.getfixturevalue("state_beside_postgres")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        yield url.replace("+asyncpg", "")


@pytest.mark.parametrize("name", list(SERVICES))
async def test_a_service_migrates_serves_and_stops(name: str, database_url: str, tmp_path: Path) -> None:
    environment = settings_of(name, database_url, tmp_path)
    early = command(name, "serve", environment)
    assert early.returncode == 69, early.stderr
    assert f"python -m {name}_server migrate" in early.stderr
    for verb in ("migrate", "migrate", "seed", "seed"):
        done = command(name, verb, environment)
        assert done.returncode == 0, done.stderr
    process = subprocess.Popen(
        [sys.executable, "-m", f"{name}_server", "serve"],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    base = f"http://127.0.0.1:{environment[f'ROUTELOOM_{name.upper()}_WEB__PORT']}{SERVICES[name]}"
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:

            async def answers() -> bool:
                try:
                    return (await client.get(f"{base}/readyz")).is_success
                except httpx2.TransportError:
                    return False

            await wait_until(answers, seconds=60)
            assert (await client.get(f"{base}/livez")).json() == {"status": "ok"}
            assert (await client.get(f"{base}/healthz")).json()["status"] == "ok"
            assert "routeloom_http_requests_total" in (await client.get(f"{base}/metrics")).text
            assert (await client.get(f"{base}/openapi.json")).json()["info"]["title"].startswith("Routeloom")
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", list(SERVICES))
@pytest.mark.parametrize(
    ("setting", "value", "remedy"),
    [
        ("DATABASE__URL", "mysql://x", "use sqlite or postgresql"),
        ("WEB__PORT", "many", "integer"),
        ("WEB__PUBLIC_URL", "http://loom.example", "https"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_names_it(
    name: str, setting: str, value: str, remedy: str, tmp_path: Path
) -> None:
    environment = settings_of(name, f"sqlite:///{tmp_path / 'x.db'}", tmp_path)
    environment[f"ROUTELOOM_{name.upper()}_{setting}"] = value
    refused = command(name, "serve", environment)
    assert refused.returncode == 78
    assert re.search(remedy, refused.stderr), refused.stderr
    assert setting.lower().replace("__", ".") in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    refused = command("control", "serve", {})
    assert refused.returncode == 78
    assert "setting database" in refused.stderr


def test_settings_come_from_a_file_and_a_variable_wins(tmp_path: Path) -> None:
    file = tmp_path / "routeloom.toml"
    file.write_text(
        f"""[control]
state_directory = "{tmp_path}"
fleet_name = "from-the-file"
[control.database]
url = "sqlite:///{tmp_path / "file.db"}"
"""
    )
    done = command("control", "migrate", {"ROUTELOOM_CONFIG": str(file)})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "file.db").exists()
    elsewhere = {"ROUTELOOM_CONTROL_DATABASE__URL": f"sqlite:///{tmp_path / 'variable.db'}"}
    done = command("control", "migrate", {"ROUTELOOM_CONFIG": str(file), **elsewhere})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "variable.db").exists()
