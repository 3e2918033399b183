"""What every checkpoint store promises."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from datetime import timedelta

import pytest

from shared.durable import (
    CheckpointConflictError,
    LeaseLostError,
    LoopContext,
    PayloadError,
    QueuedJob,
    RedisPayloadError,
    Retention,
)
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import Backend, SqlBackend, context


class TestSave:
    async def test_answers_the_next_revision_and_leaves_the_callers_object_alone(
        self, backend: Backend
    ) -> None:
        mine = context()
        before = deepcopy(mine)
        assert await backend.checkpoints().save(mine, 0) == 1
        assert mine == before

    async def test_what_is_loaded_is_what_was_saved_to_the_last_digit(self, backend: Backend) -> None:
        store = backend.checkpoints()
        await store.save(context(), 0)
        assert await store.load("run-1") == context(revision=1)

    async def test_expects_the_contexts_own_revision_by_default(self, backend: Backend) -> None:
        store = backend.checkpoints()
        await store.save(context())
        loaded = await store.load("run-1")
        assert loaded is not None
        assert await store.save(loaded) == 2

    async def test_refuses_a_stale_revision_and_names_both(self, backend: Backend) -> None:
        store = backend.checkpoints()
        await store.save(context(), 0)
        await store.save(context(), 1)
        with pytest.raises(CheckpointConflictError) as refused:
            await store.save(context(cursor={"late": True}), 1)
        assert (refused.value.expected, refused.value.current) == (1, 2)
        assert await store.load("run-1") == context(revision=2)

    async def test_refuses_a_revision_of_something_that_is_not_there(self, backend: Backend) -> None:
        with pytest.raises(CheckpointConflictError) as refused:
            await backend.checkpoints().save(context(), 3)
        assert refused.value.current is None
        assert await backend.checkpoints().load("run-1") is None

    async def test_of_fifty_writers_each_makes_a_revision_or_meets_a_conflict(self, backend: Backend) -> None:
        store = backend.checkpoints()

        async def add(number: int) -> int | None:
            found = await store.load("run-1") or LoopContext("run-1")
            found.plan.append(number)
            try:
                await store.save(found)
            except CheckpointConflictError:
                return None
            return number

        written = [number for number in await asyncio.gather(*map(add, range(50))) if number is not None]
        final = await store.load("run-1")
        assert final is not None
        assert 1 <= final.revision == len(final.plan)
        assert sorted(final.plan) == sorted(written)


class TestFencing:
    async def test_the_holder_of_the_lease_may_save(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(QueuedJob("job-1", "step"))
        lease = await queue.lease("worker-1")
        assert await backend.checkpoints().save(context(), 0, lease=lease) == 1

    async def test_a_worker_whose_lease_has_expired_may_not(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=0.05)
        await queue.enqueue(QueuedJob("job-1", "step"))
        stale = await queue.lease("worker-1")
        fresh = await backend.queue().lease("worker-2", wait=timedelta(seconds=5))
        with pytest.raises(LeaseLostError):
            await backend.checkpoints().save(context(), 0, lease=stale)
        assert await backend.checkpoints().load("run-1") is None
        assert await backend.checkpoints().save(context(), 0, lease=fresh) == 1

    async def test_nor_may_one_whose_job_is_done(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(QueuedJob("job-1", "step"))
        lease = await queue.lease("worker-1")
        assert lease is not None
        await queue.acknowledge(lease)
        with pytest.raises(LeaseLostError):
            await backend.checkpoints().save(context(), 0, lease=lease)


def _flip_digit_of_revision(stored: bytes) -> bytes:
    return stored.replace(b'"revision":1,', b'"revision":7,', 1)


def _cut_the_end(stored: bytes) -> bytes:
    return stored[:-3]


def _unknown_schema(stored: bytes) -> bytes:
    return stored.replace(b"checkpoint.v1", b"checkpoint.v9", 1)


def _other_run(stored: bytes) -> bytes:
    return stored.replace(b'"run_id":"run-1"', b'"run_id":"run-2"', 1)


def _invalid_utf8(stored: bytes) -> bytes:
    return stored.replace(b"approve", b"appro\xff\xfe", 1)


def _same_length_other_letter(stored: bytes) -> bytes:
    return stored.replace(b"approve", b"approvE", 1)


def _not_json(stored: bytes) -> bytes:
    return b"\x00" * len(stored)


EVERY_DAMAGE = (
    _flip_digit_of_revision,
    _cut_the_end,
    _unknown_schema,
    _other_run,
    _invalid_utf8,
    _same_length_other_letter,
    _not_json,
)
FOUND_BY_SAVE = (_cut_the_end, _unknown_schema, _other_run, _not_json)


class TestDamage:
    async def test_load_finds_every_kind_of_it(self, backend: Backend) -> None:
        store = backend.checkpoints()
        await store.save(context(), 0)
        intact = await backend.stored_checkpoint("run-1")
        for damage in EVERY_DAMAGE:
            await backend.overwrite_checkpoint("run-1", damage(intact))
            with pytest.raises(PayloadError) as refused:
                await store.load("run-1")
            assert isinstance(refused.value, RedisPayloadError) != isinstance(backend, SqlBackend)

    async def test_save_refuses_to_write_over_what_it_cannot_read(self, backend: Backend) -> None:
        store = backend.checkpoints()
        await store.save(context(), 0)
        intact = await backend.stored_checkpoint("run-1")
        for damage in FOUND_BY_SAVE:
            await backend.overwrite_checkpoint("run-1", damage(intact))
            with pytest.raises(PayloadError):
                await store.save(context(), 1)
            assert await backend.stored_checkpoint("run-1") == damage(intact)

    async def test_another_order_of_members_is_read_and_replaced(self, backend: Backend) -> None:
        store = backend.checkpoints()
        await store.save(context(), 0)
        other = (
            b'{"run_id": "run-1", "plan": [], "cursor": {}, "feedback": [], "awaiting": {}, "metadata": {}, '
            b'"revision": 4, "schema": "routeloom.checkpoint.v1"}'
        )
        await backend.overwrite_checkpoint("run-1", other)
        assert await store.load("run-1") == LoopContext("run-1", revision=4)
        with pytest.raises(CheckpointConflictError):
            await store.save(context(), 3)
        assert await store.save(context(), 4) == 5


class TestDelete:
    async def test_removes_the_expected_revision_only(self, backend: Backend) -> None:
        store = backend.checkpoints()
        await store.save(context(), 0)
        with pytest.raises(CheckpointConflictError):
            await store.delete("run-1", 2)
        assert await store.delete("run-1", 1)
        assert not await store.delete("run-1", 1)
        assert await store.load("run-1") is None

    async def test_removes_whatever_is_there_even_when_it_is_damaged(self, backend: Backend) -> None:
        store = backend.checkpoints()
        await store.save(context(), 0)
        await backend.overwrite_checkpoint("run-1", b"garbage")
        assert await store.delete("run-1")
        assert await store.save(context(), 0) == 1


class TestRetention:
    async def test_is_off_by_default(self, backend: Backend) -> None:
        await backend.checkpoints().save(context(), 0)
        assert await backend.checkpoints().list_recent() == []

    async def test_lists_the_latest_saved_first(self, backend: Backend) -> None:
        store = backend.checkpoints(Retention(listed=True))
        for run_id in ("run-1", "run-2", "run-3"):
            await store.save(context(run_id), 0)
            await asyncio.sleep(0.002)  # the order is by the server's milliseconds
        await store.save(context("run-1"), 1)
        await store.delete("run-2")
        assert [row.run_id for row in await store.list_recent()] == ["run-1", "run-3"]

    async def test_a_checkpoint_leaves_when_its_time_is_over(self, backend: Backend) -> None:
        store = backend.checkpoints(Retention(keep=timedelta(milliseconds=80)))
        await store.save(context(), 0)

        async def gone() -> bool:
            return await store.load("run-1") is None

        await wait_until(gone)
        assert await store.save(context(), 0) == 1
