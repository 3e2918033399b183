"""A sync says how far it is; whatever becomes of that, what it did and what is answered is SQL's."""

import secrets
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from registry_server.mirror.errors import SyncHeld
from registry_server.mirror.schemas import SyncOutcome, SyncProgress, SyncStage
from registry_server.mirror.store.repository import BareRepository
from registry_server.resources import RegistryResources
from shared.testing.servers import KeyValueServer, valkey_server
from tests.integration.registry.conftest import Registries, Registry
from tests.integration.registry.objects import FILES
from tests.integration.registry.upstream import Upstream

KEY = "runtime:build:registry-sync"


@pytest.fixture(params=["memory", "valkey", "redis"])
def on_each_state(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "memory":
        server: KeyValueServer = request.getfixturevalue(request.param)
        monkeypatch.setenv("REDIS_URL", f"{server.url}/7")
        monkeypatch.setenv("REDIS_KEY_PREFIX", f"test-{secrets.token_hex(4)}:")


@pytest.fixture(params=["sqlite"])
def database_url(sqlite_template: Path, tmp_path: Path) -> str:
    copied = tmp_path / "registry.db"
    copied.write_bytes(sqlite_template.read_bytes())
    return f"sqlite:///{copied}"


async def said(resources: RegistryResources) -> SyncProgress:
    raw = await resources.runtime_state.get(KEY)
    assert raw is not None
    return SyncProgress.model_validate_json(raw)


@pytest.mark.usefixtures("on_each_state")
class TestProgress:
    async def test_every_stage_is_said_and_the_end_is_kept_for_a_week(
        self, registries: Registries, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        upstream.commit(FILES)
        registry = await registries.open(upstream)
        seen = await watched(registry, monkeypatch)
        sync = await registry.sync()
        assert seen == [SyncStage.FETCHING, SyncStage.READING]
        ended = await said(registry.resources)
        assert (ended.stage, ended.outcome, ended.to_commit) == (
            SyncStage.ENDED,
            SyncOutcome.APPLIED,
            sync.to_commit,
        )
        assert 604_700 < await registry.resources.runtime_state.ttl(KEY) <= 604_800
        assert (await registry.mirror.status()).running is None

    async def test_wiping_it_in_the_middle_changes_no_result(
        self, registries: Registries, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        upstream.commit(FILES)
        registry = await registries.open(upstream)
        real = BareRepository.tree

        async def wiping(self: BareRepository, commit: str) -> object:
            assert await registry.resources.runtime_state.delete(KEY) == 1
            assert (await registry.mirror.status()).running is None
            return await real(self, commit)

        monkeypatch.setattr(BareRepository, "tree", wiping)
        sync = await registry.sync()
        status = await registry.mirror.status()
        assert (sync.outcome, status.version, status.commit) == (
            SyncOutcome.APPLIED,
            sync.id,
            sync.to_commit,
        )
        assert (await said(registry.resources)).stage is SyncStage.ENDED

    async def test_a_running_sync_is_shown_until_its_process_has_been_silent_too_long(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        upstream.commit(FILES)
        registry = await registries.open(upstream)
        await registry.sync()
        left = (await said(registry.resources)).model_copy(update={"stage": SyncStage.APPLYING})
        await registry.mirror.board.show(left)
        running = (await registry.mirror.status()).running
        assert running is not None
        assert running.stage is SyncStage.APPLYING
        registry.clock.advance(registry.mirror.settings.time_limit + timedelta(minutes=2))
        assert (await registry.mirror.status()).running is None


async def watched(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> list[SyncStage]:
    """What somebody who asks for the status sees at the steps of the next sync."""
    seen: list[SyncStage] = []
    for name in ("fetch", "tree"):
        real = getattr(BareRepository, name)

        async def looking(self: BareRepository, *arguments: object, _real: object = real) -> object:
            running = (await registry.mirror.status()).running
            assert running is not None
            seen.append(running.stage)
            return await _real(self, *arguments)  # type: ignore[operator]

        monkeypatch.setattr(BareRepository, name, looking)
    return seen


async def test_a_refusal_is_said_with_its_reason(registries: Registries, upstream: Upstream) -> None:
    upstream.commit(FILES)
    registry = await registries.open(upstream, drop_share=0.01, drop_floor=0)
    await registry.sync()
    upstream.commit(dict.fromkeys(list(FILES)[:-1]))
    with pytest.raises(SyncHeld):
        await registry.sync()
    ended = await said(registry.resources)
    assert (ended.stage, ended.outcome, ended.code) == (
        SyncStage.ENDED,
        SyncOutcome.HELD,
        SyncHeld.code,
    )


@pytest.fixture
def mortal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyValueServer]:
    with valkey_server(tmp_path / "mortal") as server:
        monkeypatch.setenv("REDIS_URL", f"{server.url}/7")
        yield server


async def test_a_store_that_dies_after_the_commit_is_only_mentioned(
    registries: Registries, upstream: Upstream, mortal: KeyValueServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.commit(FILES)
    registry = await registries.open(upstream)
    mirror = type(registry.mirror.versions)
    real = mirror.raise_to

    async def dying(self: object, version: int) -> bool:
        mortal.stop()
        return await real(self, version)  # type: ignore[arg-type]

    monkeypatch.setattr(mirror, "raise_to", dying)
    with capture_logs() as logs:
        sync = await registry.sync()
    assert sync.outcome is SyncOutcome.APPLIED
    assert [entry["log_level"] for entry in logs if entry["event"] == "registry_sync_progress_not_shown"] == [
        "warning"
    ]
    status = await registry.mirror.status()
    assert (status.version, status.running) == (sync.id, None)
    assert status.syncs[0].outcome is SyncOutcome.APPLIED


async def test_after_a_restart_what_happened_is_sqls(registries: Registries, upstream: Upstream) -> None:
    upstream.commit(FILES)
    before = await registries.open(upstream)
    sync = await before.sync()
    restarted = await registries.open(upstream)
    assert await restarted.resources.runtime_state.get(KEY) is None
    status = await restarted.mirror.status()
    assert (status.version, status.syncs[0].to_commit) == (sync.id, sync.to_commit)
