"""A server that answers, but not with what was asked for: every refusal by its first word."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog

from shared.cache import Reason, TakeOutcome, Tier, TierProber, TierState, TierUnavailable, healthz
from shared.cache.breaker import BreakerState
from shared.testing.servers import KeyValueServer, valkey_server
from tests.contracts.cache.subjects import PATIENCE, Subject, eventually, open_tier, opened, settings_for
from tests.faults.cache.test_frozen import READS, WRITES

#: What frees or needs no room; `keep` only lengthens a life.
FREEING = {"delete", "keep", "publish", "take_json", "take_and_tombstone"}


@pytest.fixture
async def subject(server: KeyValueServer, tier: Tier) -> AsyncIterator[Subject]:
    async with opened(server.url, tier) as opening:
        await opening.server.open()
        yield opening


async def refused(subject: Subject, name: str) -> TierUnavailable | None:
    """How an operation was refused; None when it was carried out."""
    try:
        await (READS | WRITES)[name](subject.cache, subject.families)
    except TierUnavailable as error:
        return error
    return None


class TestFull:
    """OOM: reads, deletes, takes and publishing go on; the tier is not dead, so the breaker stays closed."""

    @pytest.fixture
    async def full(self, subject: Subject) -> AsyncIterator[Subject]:
        await subject.cache.set_json(subject.families.values.key(id=1), "code", ttl_seconds=60)
        policy = (await subject.cache.info()).policy
        limit = (await subject.ask("CONFIG", "GET", "maxmemory"))[1]
        await subject.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        await subject.ask("CONFIG", "SET", "maxmemory", "1mb")
        yield subject
        await subject.ask("CONFIG", "SET", "maxmemory", limit)
        await subject.ask("CONFIG", "SET", "maxmemory-policy", policy)

    @pytest.mark.parametrize("name", [*READS, *sorted(FREEING)])
    async def test_reading_and_freeing_work(self, full: Subject, name: str) -> None:
        assert await refused(full, name) is None

    @pytest.mark.parametrize("name", sorted(WRITES.keys() - FREEING))
    async def test_growing_is_refused_for_lack_of_room(self, full: Subject, name: str) -> None:
        error = await refused(full, name)
        assert error is not None
        assert error.reason is Reason.CAPACITY
        assert type(error) is TierUnavailable
        assert full.cache.breaker.state is BreakerState.CLOSED

    async def test_many_refusals_leave_the_breaker_closed_and_one_line_in_the_log(
        self, full: Subject
    ) -> None:
        with structlog.testing.capture_logs() as logged:
            for _ in range(100):
                await refused(full, "set_json")
        assert full.cache.breaker.state is BreakerState.CLOSED
        assert await refused(full, "get_json") is None
        assert len([line for line in logged if line["event"] == "tier_alarm"]) == 1

    async def test_a_code_can_still_be_redeemed(self, full: Subject) -> None:
        code, used = full.families.values.key(id=1), full.families.used.key(id=1)
        taken = await full.cache.take_and_tombstone(code, used, ttl_seconds=60)
        assert (taken.outcome, taken.value) == (TakeOutcome.TAKEN, "code")

    async def test_health_says_so(self, full: Subject) -> None:
        prober = TierProber(full.cache)
        await prober.probe_once()
        await prober.aclose()
        assert prober.health.state is TierState.DEGRADED
        if full.cache.tier is Tier.KV:
            assert "full" in {found.code for found in prober.health.problems}
        assert healthz(prober.health).http_status == 200


async def test_memory_over_seventy_percent_degrades_kv(tmp_path: Path) -> None:
    with valkey_server(tmp_path, maxmemory="8mb") as server:
        async with opened(server.url, Tier.KV) as subject:
            await subject.server.open()
            await subject.ask("SET", subject.raw("value:big"), "x" * 6_000_000, "EX", 60)
            prober = TierProber(subject.cache)
            with structlog.testing.capture_logs() as logged:
                for _ in range(5):
                    await prober.probe_once()
            await prober.aclose()
    answer = healthz(prober.health)
    assert (answer.http_status, answer.body["status"]) == (200, "degraded")
    assert answer.body["tiers"]["kv"]["memory_share"] > 0.7
    assert [line["about"] for line in logged if line["event"] == "tier_problem"] == ["memory"]


class TestReadOnly:
    """A master that was demoted: writes are refused, reads work, and its connections are given up."""

    @pytest.fixture
    async def demoted(self, subject: Subject) -> AsyncIterator[Subject]:
        await subject.cache.set_json(subject.families.values.key(id=1), "kept", ttl_seconds=60)
        await subject.ask("REPLICAOF", "127.0.0.1", 1)
        yield subject
        await subject.ask("REPLICAOF", "NO", "ONE")

    async def test_writes_are_refused_and_reads_work(self, demoted: Subject) -> None:
        error = await refused(demoted, "set_json")
        assert error is not None
        assert error.reason is Reason.WRITES_REFUSED
        assert await demoted.cache.get_json(demoted.families.values.key(id=1)) == "kept"
        assert demoted.cache.breaker.state is BreakerState.CLOSED

    async def test_scripts_are_refused_as_a_whole(self, demoted: Subject) -> None:
        error = await refused(demoted, "increment")
        assert error is not None
        assert error.reason is Reason.WRITES_REFUSED

    async def test_its_idle_connections_are_closed(self, demoted: Subject) -> None:
        await demoted.cache.get_json(demoted.families.values.key(id=1))
        await refused(demoted, "set_json")

        async def only_ours() -> bool:
            listed = await demoted.ask("CLIENT", "LIST")
            return bool(listed.count(b"name=routeloom:tests") == 1)

        await eventually(only_ours)

    async def test_health_says_so(self, demoted: Subject) -> None:
        prober = TierProber(demoted.cache)
        await prober.probe_once()
        await prober.aclose()
        assert "read_only" in {found.code for found in prober.health.problems}


async def test_trouble_with_snapshots_refuses_writes_and_health_says_so(tmp_path: Path) -> None:
    with valkey_server(tmp_path) as server:
        async with opened(server.url, Tier.KV) as subject:
            await subject.server.open()
            # A directory in the place of the file: no snapshot can be renamed onto it.
            (tmp_path / "dump.rdb").mkdir()
            await subject.ask("BGSAVE")

            async def failed() -> bool:
                return (await subject.cache.info()).snapshot_failed

            await eventually(failed)
            error = await refused(subject, "set_json")
            assert error is not None
            assert error.reason is Reason.WRITES_REFUSED
            assert await refused(subject, "get_json") is None
            prober = TierProber(subject.cache)
            await prober.probe_once()
            await prober.aclose()
            assert "snapshot_failed" in {found.code for found in prober.health.problems}
            (tmp_path / "dump.rdb").rmdir()


class TestAuthentication:
    async def test_a_missing_password_is_configuration_and_said_once(
        self, server: KeyValueServer, tier: Tier
    ) -> None:
        async with opened(server.url, tier) as subject:
            await subject.server.open()
            await subject.ask("CONFIG", "SET", "requirepass", "sesame")
            try:
                with structlog.testing.capture_logs() as logged:
                    errors = [await refused(subject, "get_json") for _ in range(20)]
            finally:
                await subject.ask("CONFIG", "SET", "requirepass", "")
        assert errors[0] is not None
        assert errors[0].reason is Reason.CONFIGURATION
        assert subject.recorder.breaker[:1] == [BreakerState.OPEN]
        assert len([line for line in logged if line["event"] == "tier_alarm"]) == 1

    @pytest.mark.parametrize("password", ["wrong-secret", "sesame"])
    async def test_a_password_that_is_checked_never_shows(
        self, server: KeyValueServer, tier: Tier, password: str
    ) -> None:
        async with opened(server.url, tier) as admin:
            await admin.server.open()
            await admin.ask("CONFIG", "SET", "requirepass", "sesame")
            url = server.url.replace("redis://", f"redis://:{password}@")
            settings = settings_for(url)
            cache = open_tier(settings, tier)
            try:
                with structlog.testing.capture_logs() as logged:
                    error = await _info_error(cache)
            finally:
                await cache.aclose()
                await admin.ask("CONFIG", "SET", "requirepass", "")
        assert (error is None) == (password == "sesame")
        assert error is None or error.reason is Reason.CONFIGURATION
        assert password not in f"{logged}{error!r}{settings!r}"

    async def test_a_forbidden_command_is_configuration(
        self, subject: Subject, server: KeyValueServer
    ) -> None:
        user = f"u{secrets.token_hex(4)}"
        await subject.ask("ACL", "SETUSER", user, "on", ">word", "~*", "&*", "+@all", "-get", "-evalsha")
        settings = settings_for(server.url.replace("redis://", f"redis://{user}:word@"))
        cache = open_tier(settings, subject.cache.tier)
        for call in ("get_json", "increment"):
            with pytest.raises(TierUnavailable) as raised:
                await (READS | WRITES)[call](cache, subject.families)
            assert raised.value.reason is Reason.CONFIGURATION
        await cache.aclose()
        await subject.ask("ACL", "DELUSER", user)

    @pytest.mark.parametrize("name", ["increment", "append", "push_window", "append_and_publish"])
    async def test_a_server_that_forbids_expiry_stores_nothing_without_an_end(
        self, subject: Subject, server: KeyValueServer, name: str
    ) -> None:
        """A script that is stopped half-way is not rolled back."""
        user = f"u{secrets.token_hex(4)}"
        await subject.ask("ACL", "SETUSER", user, "on", ">word", "~*", "&*", "+@all", "-pexpire", "-set")
        guard = subject.families.values.key(id=1)
        await subject.cache.set_json(guard, 1, ttl_seconds=60)
        url = server.url.replace("redis://", f"redis://{user}:word@")
        cache = open_tier(settings_for(url, namespace=subject.settings.namespace), subject.cache.tier)
        with pytest.raises(TierUnavailable) as raised:
            await WRITES[name](cache, subject.families)
        await cache.aclose()
        await subject.ask("ACL", "DELUSER", user)
        # Inside a script the server words it as an error of the script.
        assert raised.value.reason is Reason.REFUSED
        assert [name async for name in subject.cache.names()] == [guard.name]


async def _info_error(cache: Any) -> TierUnavailable | None:
    try:
        await cache.info()
    except TierUnavailable as error:
        return error
    return None


async def test_a_server_with_too_many_clients_counts_as_a_failed_connection(
    subject: Subject, server: KeyValueServer
) -> None:
    before = (await subject.ask("CONFIG", "GET", "maxclients"))[1]
    await subject.ask("CONFIG", "SET", "maxclients", 1)
    try:
        error = await refused(subject, "get_json")
        assert error is not None
        assert error.reason is Reason.CONNECTION
    finally:
        await subject.ask("CONFIG", "SET", "maxclients", before)
    assert await refused(subject, "get_json") is None


async def test_a_server_that_is_busy_with_a_script_is_busy(subject: Subject, server: KeyValueServer) -> None:
    await refused(subject, "get_json")
    await subject.ask("CONFIG", "SET", "busy-reply-threshold", 10)
    async with opened(server.url, subject.cache.tier) as other:
        await other.server.open()
        await other.server.send("EVAL", "while true do end", 0)

        async def busy() -> bool:
            error = await refused(subject, "get_json")
            return error is not None and error.reason is Reason.BUSY

        await eventually(busy)
        await subject.ask("SCRIPT", "KILL")
        await other.server.receive()
    await eventually(lambda: _works(subject))


async def _works(subject: Subject) -> bool:
    return await refused(subject, "get_json") is None


async def test_a_write_to_a_key_of_another_type_is_told(subject: Subject) -> None:
    await subject.ask("SET", subject.raw("window:1"), "text", "EX", 60)
    error = await refused(subject, "append")
    assert error is not None
    assert error.reason is Reason.WRONG_TYPE
    assert subject.cache.breaker.state is BreakerState.CLOSED


async def test_a_load_falls_back_whatever_the_refusal(subject: Subject) -> None:
    await subject.ask("SET", subject.raw("value:1"), "x", "EX", 60)
    await subject.ask("DEL", subject.raw("value:1"))
    await subject.ask("RPUSH", subject.raw("value:1"), "x")

    async def load() -> str:
        return "loaded"

    key = subject.families.values.key(id=1)
    assert await subject.cache.get_or_load(key, load, ttl_seconds=5) == "loaded"
    await subject.ask("DEL", subject.raw("value:1"))


@pytest.mark.parametrize("error", [RuntimeError("loop"), OSError("gone"), UnicodeError("text")])
async def test_no_error_of_a_client_gets_out(subject: Subject, error: Exception) -> None:
    """An event loop raises RuntimeError for a closed transport; whatever comes, the caller falls back."""
    transport = subject.cache.gateway.transport
    assert transport is not None

    async def explode(*_arguments: object) -> None:
        raise error

    transport._pool.acquire = explode
    refusal = await refused(subject, "get_json")
    assert refusal is not None
    assert refusal.reason is Reason.CONNECTION
    assert transport.in_use == 0


async def test_a_server_that_refuses_connections_is_told_at_once(tier: Tier) -> None:
    async with opened("redis://127.0.0.1:1", tier, deadline=PATIENCE) as subject:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            error = await refused(subject, "set_json")
    assert error is not None
    assert error.reason is Reason.CONNECTION
    assert type(error) is TierUnavailable, "nothing was sent, so nothing is unknown"


async def test_a_deadline_may_be_set(server: KeyValueServer, tier: Tier) -> None:
    async with opened(server.url, tier, deadline=timedelta(seconds=7)) as subject:
        assert subject.cache.gateway.deadline == timedelta(seconds=7)
