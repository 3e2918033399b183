"""A tier that is set up wrongly says what is wrong in one sentence, and nothing of what is secret."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from shared.cache import Tier, TierProber, TierState, healthz
from shared.testing.servers import KeyValueServer
from shared.testing.servers.ports import free_loopback_port
from tests.contracts.cache.authorities import new_authority
from tests.contracts.cache.subjects import opened
from tests.faults.degradation.faults import PASSWORD, tell

MISTAKEN = "hunter2-planted"
SCHEMES = {Tier.KV: "valkeys", Tier.CACHE: "rediss"}


async def told(url: str, tier: Tier, **settings: Any) -> str:
    """The one problem that `/healthz` tells of; what it and the log say is free of passwords."""
    with capture_logs() as logs:
        async with opened(url, tier, **settings) as subject:
            prober = TierProber(subject.cache)
            for _ in range(2):
                await prober.probe_once()
            await prober.aclose()
    assert prober.health.state is TierState.UNAVAILABLE
    answer = healthz(prober.health)
    assert answer.http_status == (503 if tier is Tier.KV else 200)
    said = json.dumps([answer.body, logs], default=str)
    assert MISTAKEN not in said
    assert PASSWORD not in said
    (problem,) = prober.health.problems
    assert [entry["message"] for entry in logs if entry["event"] == "tier_unavailable"] == [problem.message]
    return problem.message


@contextmanager
def with_password(server: KeyValueServer) -> Iterator[None]:
    tell(server, f"CONFIG SET requirepass '{PASSWORD}'")
    try:
        yield
    finally:
        tell(server, f"AUTH '{PASSWORD}'", "CONFIG SET requirepass ''")


async def test_a_password_that_is_missing_or_wrong(server: KeyValueServer, tier: Tier) -> None:
    where = f"{server.host}:{server.port}"
    with with_password(server):
        assert "the URL has none" in await told(server.url, tier)
        for credentials in (f":{MISTAKEN}", f"somebody:{MISTAKEN}"):
            found = await told(f"redis://{credentials}@{where}", tier)
            assert "does not accept the user name or the password" in found


async def test_a_password_that_nobody_asked_for(server: KeyValueServer, tier: Tier) -> None:
    found = await told(f"redis://:{MISTAKEN}@{server.host}:{server.port}", tier)
    assert "the server knows of none" in found


async def test_a_user_who_may_nothing(server: KeyValueServer, tier: Tier) -> None:
    tell(server, f"ACL SETUSER reader on >{MISTAKEN} ~* +get +select +client")
    found = await told(f"redis://reader:{MISTAKEN}@{server.host}:{server.port}", tier)
    assert "ACL GETUSER" in found


async def test_a_database_that_the_server_has_not(server: KeyValueServer, tier: Tier) -> None:
    assert "raise `databases`" in await told(f"{server.url}/999", tier)


async def test_nobody_there_and_nobody_awake(server: KeyValueServer, tier: Tier) -> None:
    nobody = f"redis://{server.host}:{free_loopback_port()}"
    assert "Nobody listens" in await told(nobody, tier)
    server.pause()
    assert "does not answer in time" in await told(server.url, tier)


async def test_a_certificate_of_another_authority(server: KeyValueServer, tier: Tier, tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    ours, theirs = new_authority(tmp_path / "ours"), new_authority(tmp_path / "theirs")
    certificate, key = theirs.issue("server")
    port = free_loopback_port()
    tell(
        server,
        f"CONFIG SET tls-cert-file '{certificate}' tls-key-file '{key}' tls-ca-cert-file '{theirs.file}' "
        f"tls-auth-clients no tls-port {port}",
    )
    try:
        found = await told(f"{SCHEMES[tier]}://127.0.0.1:{port}", tier, tls_ca=ours.file)
        assert "not of the authority in TLS_CA" in found
        assert "TLS" in await told(f"redis://127.0.0.1:{port}", tier)
    finally:
        tell(server, "CONFIG SET tls-port 0")


async def test_tls_where_the_server_speaks_none(server: KeyValueServer, tier: Tier) -> None:
    found = await told(f"{SCHEMES[tier]}://{server.host}:{server.port}", tier)
    assert "TLS" in found
