"""`serve --workers N`: refused where it cannot work, one socket and one service where it can."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import pytest

from shared.testing.servers import KeyValueServer
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import PLAIN, Prepared
from tests.integration.control.workers.processes import Service, ending

pytestmark = pytest.mark.processes


def environment(prepared: Prepared, directory: Path, **more: str) -> dict[str, str]:
    return {
        "ROUTELOOM_CONTROL_DATABASE__URL": prepared.url,
        "ROUTELOOM_CONTROL_STATE_DIRECTORY": str(directory),
        **more,
    }


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_more_than_one_worker_without_kv_is_refused_with_the_reason(
    on_sqlite: Prepared, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "control_server", "serve", "--workers", "2"],
        env=os.environ | environment(on_sqlite, tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 78
    assert "2 workers need the kv tier, and none is configured" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", [("serve", "--workers", "2"), ("work",)], ids=" ".join)
def test_an_address_that_cannot_work_ends_the_start_with_one_sentence(
    on_sqlite: Prepared, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    wrong = environment(on_sqlite, tmp_path, ROUTELOOM_CONTROL_KV__URL="http://:planted-word@kv.example")
    done = subprocess.run(
        [sys.executable, "-m", "control_server", *verb],
        env=os.environ | wrong,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in {69, 78}
    assert "the URL of a tier begins with redis://" in done.stderr
    assert "Traceback" not in done.stderr
    assert "planted-word" not in done.stdout + done.stderr


async def test_workers_share_a_socket_are_replaced_and_end_with_their_parent(
    on_postgres: Prepared, kv: KeyValueServer, tmp_path: Path
) -> None:
    settings = environment(on_postgres, tmp_path, ROUTELOOM_CONTROL_KV__URL=kv.url)
    service = Service("control_server", settings, tmp_path / "server.log", ("--workers", "2"))
    with ending(service):
        await service.start()
        await wait_until(lambda: len(service.children()) == 2)
        before = service.children()
        victim = min(before)
        os.kill(victim, signal.SIGKILL)
        await wait_until(lambda: len(service.children() - {victim}) == 2, seconds=30)
        async with httpx.AsyncClient(verify=PLAIN) as client:
            for _ in range(5):
                assert (await client.get(f"{service.url}/readyz")).status_code == 200
        workers = service.children()
        service.kill()
        await wait_until(lambda: not [pid for pid in workers if alive(pid)], seconds=30)
