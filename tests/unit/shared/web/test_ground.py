"""Headers, request ids, health, hosts, logs."""

import json
import logging
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from pydantic import ValidationError
from structlog.testing import capture_logs

from shared.database import DatabaseFull
from shared.kernel.secrets import mint
from shared.web.health import TierReport, overall
from shared.web.logs import LogFormat, configure_logs, drop_secrets
from shared.web.metrics import CountedLoops
from shared.web.settings import WebSettings
from tests.unit.shared.web.service import build

KV_DOWN = TierReport(tier="kv", status="unreachable", essential=True)
CACHE_DOWN = TierReport(tier="cache", status="unreachable")
KV_FULL = TierReport(tier="kv", status="degraded", essential=True, facts={"memory_share": 0.8})
ABSENT = TierReport(tier="kv", status="absent", essential=True)


@pytest.mark.parametrize("path", ["/livez", "/nothing", "/bug", "/busy"])
async def test_every_answer_carries_the_policy(client: httpx2.AsyncClient, path: str) -> None:
    headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


async def test_a_callers_request_id_is_kept_when_it_is_well_formed(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/livez", headers={"X-Request-ID": "trace-0123456789"})
    assert answer.headers["x-request-id"] == "trace-0123456789"
    hostile = await client.get("/livez", headers={"X-Request-ID": "a b\tc{}"})
    assert hostile.headers["x-request-id"] != "a b\tc{}"


async def test_ready_says_which_database(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/readyz")
    assert answer.json() == {"status": "ready", "database": "sqlite"}


async def test_not_ready_when_the_database_is_away(tmp_path: Path) -> None:
    app = build(tmp_path)
    async with app.router.lifespan_context(app):
        for file in tmp_path.iterdir():
            file.unlink()
        tmp_path.rmdir()
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answer = await client.get("/readyz")
    assert answer.status_code == 503


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        ([], ("ok", 200)),
        ([ABSENT], ("ok", 200)),
        ([KV_DOWN], ("unavailable", 503)),
        ([CACHE_DOWN], ("degraded", 200)),
        ([KV_FULL], ("degraded", 200)),
        ([KV_DOWN, CACHE_DOWN], ("unavailable", 503)),
    ],
)
def test_the_tiers_together(reports: list[TierReport], expected: tuple[str, int]) -> None:
    assert overall(reports) == expected


async def test_healthz_names_each_tier(tmp_path: Path) -> None:
    app = build(tmp_path, [KV_FULL])
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answer = await client.get("/healthz")
    assert answer.json()["tiers"] == {"kv": {"status": "degraded", "memory_share": 0.8}}


@pytest.mark.parametrize("host", ["127.0.0.1:8420", "[::1]:8420"])
async def test_a_browser_that_came_by_address_is_sent_to_the_name(app: FastAPI, host: str) -> None:
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
        page = await client.get("/nodes?q=a", headers={"Accept": "text/html"})
        program = await client.get("/livez")
    assert page.status_code == 307
    assert page.headers["location"] == "http://localhost:8420/nodes?q=a"
    assert program.status_code == 200


@pytest.mark.parametrize(
    "url",
    [
        "http://loom.example",
        "https://loom.example/path",
        "https://192.0.2.1",
        "ftp://loom.example",
        "loom.example",
    ],
)
def test_a_public_url_that_cannot_work_is_refused_with_the_reason(url: str) -> None:
    with pytest.raises(ValidationError):
        WebSettings(public_url=url)


@pytest.mark.parametrize("proxies", ["*", "10.0.0.1, *", "0.0.0.0/0", "::/0", "proxy.example", "10.0.0.7/8"])
def test_proxies_that_nobody_could_tell_from_others_are_refused(proxies: str) -> None:
    with pytest.raises(ValidationError, match="name your proxy's"):
        WebSettings(public_url="http://localhost:8420", trusted_proxies=proxies)


@pytest.mark.parametrize("proxies", ["", "127.0.0.1,::1", "192.168.242.64/26, fd42::1", "10.0.0.0/8"])
def test_proxies_are_addresses_and_networks(proxies: str) -> None:
    assert WebSettings(public_url="http://localhost:8420", trusted_proxies=proxies).trusted_proxies == proxies


def test_no_secret_reaches_a_log_line() -> None:
    secret = mint("rlg")
    event = drop_secrets(
        None, "info", {"event": f"got {secret.text}", "agent_token": "x", "fencing_token": 3}
    )
    assert event == {
        "event": f"got rlg_{secret.id}_[redacted]",
        "agent_token": "[redacted]",
        "fencing_token": 3,
    }


def fail_with(text: str) -> None:
    raise ValueError(text)


@pytest.mark.parametrize("form", list(LogFormat))
def test_a_logged_error_hides_a_secret_in_its_message(
    capsys: pytest.CaptureFixture[str], form: LogFormat
) -> None:
    secret = mint("rlp").text
    before = logging.getLogger().handlers[:]
    configure_logs(form=form)
    try:
        logging.getLogger("shared.test").error("failed with %s", secret)
        try:
            fail_with(secret)
        except ValueError:
            logging.getLogger("shared.test").exception("failed")
    finally:
        logging.getLogger().handlers[:] = before
    printed = capsys.readouterr().err
    assert secret not in printed
    if form is LogFormat.JSON:
        assert [json.loads(line)["level"] for line in printed.splitlines()] == ["error", "error"]


def test_a_loop_that_finds_something_away_says_what_and_not_where() -> None:
    loops = CountedLoops(CollectorRegistry())
    with capture_logs() as logs:
        loops.failed("sweep", DatabaseFull())
        loops.failed("sweep", ValueError("a bug"))
    away, bug = logs
    assert (away["error"], "exc_info" in away) == ("database_full", False)
    assert away["reason"].startswith("The disk of the database is full.")
    assert (bug["error"], str(bug["exc_info"])) == ("ValueError", "a bug")
