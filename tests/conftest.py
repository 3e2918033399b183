"""What every test may ask for. Each xdist worker has servers of its own, and no test leaves this machine."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from shared.testing.loopback import LoopbackOnly
from shared.testing.servers import (
    KeyValueServer,
    PostgresServer,
    postgres_server,
    redis_server,
    valkey_server,
)
from tests.held import holding_none

#: Full counts take hours where a slice takes seconds.
_SOAK_SECONDS = 7200
#: Files in memory, where the kernel offers them: a disk that is busy for a minute would hold up every server.
_MEMORY = Path("/dev/shm")  # noqa: S108 - every test has a directory of its own below it
_MEMORY_BYTES = 2 * 2**30


def stay_in_memory() -> None:
    """Put what tests write where nothing waits for a disk, unless TMPDIR says where."""
    if "TMPDIR" in os.environ or not _MEMORY.is_dir() or not os.access(_MEMORY, os.W_OK):
        return
    without_programs = os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC
    if not without_programs and shutil.disk_usage(_MEMORY).free >= _MEMORY_BYTES:
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None


stay_in_memory()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each soak test a limit of its own, however it is run, save for one that names its limit."""
    for item in items:
        if item.get_closest_marker("soak") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_SOAK_SECONDS))


class CurrentErrorStream:
    """Where errors go at the moment of writing: tests put streams of their own in place, and close them."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


# Rendering the local variables of a traceback takes minutes, and whoever reads it wants the lines.
# Not standard output: a command's answer stands there, in the process that also serves it.
structlog.configure(
    logger_factory=lambda *_: structlog.PrintLogger(CurrentErrorStream()),  # type: ignore[arg-type]
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ],
)


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """A program under test that sets up its logging does so for itself, not for the tests after it."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[LoopbackOnly]:
    with LoopbackOnly() as guard:
        yield guard


@pytest.fixture(scope="session", autouse=True)
def no_connection_is_held() -> Iterator[None]:
    with holding_none():
        yield


@pytest.fixture(autouse=True)
def stays_on_this_machine(loopback_only: LoopbackOnly) -> Iterator[None]:
    """Fail the test that reached out, also when the code under test caught the refusal."""
    yield
    reached_for = loopback_only.take_refused()
    assert not reached_for, f"the test reached for {', '.join(reached_for)}"


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with valkey_server(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    with postgres_server(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture
def state_beside_postgres(valkey: KeyValueServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The runtime state of a service on PostgreSQL, beside which memory:// is refused."""
    url = f"{valkey.url}/7"
    monkeypatch.setenv("REDIS_URL", url)
    return url
