"""B9: a reader behind a link that drops everything without a word is noticed, and its stream is freed."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.testing.waiting import wait_until
from tests.journeys.lite import Lite, lite
from tests.journeys.namespaces import Namespace, namespace

pytestmark = pytest.mark.processes


@pytest.fixture
def apart() -> Iterator[Namespace]:
    with namespace() as made:
        yield made


def connections(apart: Namespace, port: int) -> int:
    """Server ends of established connections to the port, without the agent's."""
    listed = apart.run("ss", "-Htn", "state", "established", f"sport = :{port}")
    return len(listed.splitlines())


def open_streams(started: Lite, apart: Namespace) -> float:
    text = apart.run("curl", "-s", f"{started.url}/metrics")
    (line,) = [line for line in text.splitlines() if line.startswith("routeloom_http_streams ")]
    return float(line.split()[1])


async def test_b9_a_silent_drop_frees_the_stream(apart: Namespace, tmp_path: Path) -> None:
    with lite(tmp_path / "home", prefix=apart.prefix) as started:
        reader = subprocess.Popen(
            [
                *apart.prefix,
                "curl",
                "-sN",
                "-H",
                f"Authorization: Bearer {started.token}",
                f"{started.url}/fleet/stream",
            ],
            stdout=subprocess.PIPE,
        )
        try:
            assert reader.stdout is not None
            assert b"retry" in reader.stdout.readline()
            assert open_streams(started, apart) == 1
            apart.run("ip", "link", "set", "lo", "down")
            await wait_until(lambda: connections(apart, started.port) == 0, seconds=90)
            apart.run("ip", "link", "set", "lo", "up")
            await wait_until(lambda: open_streams(started, apart) == 0)
        finally:
            reader.kill()
            reader.wait()
            if reader.stdout is not None:
                reader.stdout.close()
