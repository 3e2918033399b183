"""Large checkpoints that are stored first and moved into place: the whole contract, and what staging adds."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from shared.durable import (
    CheckpointConflictError,
    CheckpointStore,
    LoopContext,
    RedisCheckpointStore,
    RedisConfig,
    Retention,
    redis_checkpoints,
)
from shared.durable.keys import DurableKeys, slot_of
from tests.contracts.durable import test_checkpoints as contract
from tests.contracts.durable.backends import RedisBackend, context, redis_backend
from tests.contracts.durable.servers import CLUSTER, locate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

TestSave, TestFencing = contract.TestSave, contract.TestFencing


class StagedBackend(RedisBackend):
    """Hands every checkpoint over by SET."""

    def checkpoints(
        self, retention: Retention | None = None, staging: Any | None = None
    ) -> RedisCheckpointStore:
        config = RedisConfig(self.prefix)
        staging = staging or self.raw
        return RedisCheckpointStore(self.client, config, None, retention=retention, staging=staging)

    async def left_behind(self) -> list[bytes]:
        pattern = f"{self.prefix}:staging:*"
        return [key async for key in self.raw.scan_iter(match=pattern)]


@pytest.fixture
async def backend(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StagedBackend]:
    monkeypatch.setattr(redis_checkpoints, "STAGED_BYTES", 0)
    async with redis_backend(*locate(request.param, request, tmp_path)) as opened:
        staged = StagedBackend(opened.name, opened.client, opened.prefix)
        yield staged
        assert await staged.left_behind() == []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" in metafunc.fixturenames:
        metafunc.parametrize("backend", ["valkey", "redis", CLUSTER], indirect=True)


class Interfering:
    """Does something between the staging and the script."""

    def __init__(self, client: Any, act: Any) -> None:
        self._client, self._act = client, act

    async def set(self, name: str, value: bytes, /, *, px: int) -> None:
        await self._client.set(name, value, px=px)
        await self._act(name)


class TestStaged:
    async def test_the_bytes_are_those_of_a_script(self, backend: StagedBackend) -> None:
        await backend.checkpoints().save(context(), 0)
        staged = await backend.stored_checkpoint("run-1")
        await backend.forget_everything()
        await RedisBackend.checkpoints(backend).save(context(), 0)
        assert await backend.stored_checkpoint("run-1") == staged

    async def test_no_end_is_inherited_from_the_staging(self, backend: StagedBackend) -> None:
        await backend.checkpoints().save(context(), 0)
        assert await backend.raw.ttl(f"{backend.prefix}:checkpoints:run-1") == -1

    async def test_retention_and_the_list_are_kept(self, backend: StagedBackend) -> None:
        store = backend.checkpoints(Retention(keep=timedelta(hours=1), listed=True))
        await store.save(context(), 0)
        assert 3590 <= await backend.raw.ttl(f"{backend.prefix}:checkpoints:run-1") <= 3600
        assert [each.run_id for each in await store.list_recent()] == ["run-1"]

    async def test_a_refused_save_leaves_nothing(self, backend: StagedBackend) -> None:
        await backend.checkpoints().save(context(), 0)
        with pytest.raises(CheckpointConflictError):
            await backend.checkpoints().save(context(cursor={"late": True}), 0)
        assert await backend.left_behind() == []
        assert await backend.checkpoints().load("run-1") == context(revision=1)

    async def test_staged_bytes_that_are_lost_are_sent_again(self, backend: StagedBackend) -> None:
        lost = Interfering(backend.client, backend.raw.delete)
        store: CheckpointStore = backend.checkpoints(staging=lost)
        assert await store.save(context(), 0) == 1
        assert await store.load("run-1") == context(revision=1)

    async def test_a_writer_that_dies_in_between_changes_nothing_and_its_bytes_leave(
        self, backend: StagedBackend
    ) -> None:
        await backend.checkpoints().save(context(), 0)

        async def die(_name: str) -> None:
            raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await backend.checkpoints(staging=Interfering(backend.client, die)).save(context(), 1)
        assert await backend.checkpoints().load("run-1") == context(revision=1)
        [left] = await backend.left_behind()
        assert 0 < await backend.raw.pttl(left) <= 60_000
        assert await backend.checkpoints().save(context(), 1) == 2
        await backend.raw.delete(left)


async def test_small_checkpoints_take_one_round_trip(backend: StagedBackend) -> None:
    redis_checkpoints.STAGED_BYTES = 65_536

    async def never(name: str) -> None:
        raise AssertionError(name)

    store = backend.checkpoints(staging=Interfering(backend.client, never))
    assert await store.save(LoopContext("run-1"), 0) == 1


@pytest.mark.parametrize("prefix", ["routeloom", "routeloom:{durable}", "{a}:b"])
def test_the_staging_key_lies_in_the_slot_of_the_checkpoint(prefix: str) -> None:
    keys = DurableKeys(prefix)
    assert slot_of(keys.staged_checkpoint("run-1")) == slot_of(keys.checkpoint("run-1"))
    assert keys.staged_checkpoint("run-1").startswith(f"{prefix}:")
    assert keys.staged_checkpoint("run-1") != keys.staged_checkpoint("run-1")
