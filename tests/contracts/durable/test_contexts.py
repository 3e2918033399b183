"""What every context store promises."""

from __future__ import annotations

import asyncio

import pytest

from shared.durable import ContextAge, ContextConflictError, ContextRetentionPolicy, RetainedContext
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import Backend


class TestAppend:
    async def test_every_revision_stays_as_it_was(self, backend: Backend) -> None:
        contexts = backend.contexts()
        assert await contexts.append("run-1", {"turn": 1, "empty": []}, 0) == 1
        assert await contexts.append("run-1", {"turn": 2}, 1) == 2
        assert await contexts.load("run-1") == RetainedContext("run-1", 2, {"turn": 2})
        assert await contexts.load("run-1", 1) == RetainedContext("run-1", 1, {"turn": 1, "empty": []})
        assert await contexts.load("run-1", 3) is None
        assert await contexts.load("run-2") is None

    async def test_of_many_writers_one_wins(self, backend: Backend) -> None:
        contexts = backend.contexts()
        results = await asyncio.gather(
            *(contexts.append("run-1", {"writer": number}, 0) for number in range(8)), return_exceptions=True
        )
        assert [result for result in results if not isinstance(result, ContextConflictError)] == [1]

    async def test_refuses_a_stale_revision(self, backend: Backend) -> None:
        contexts = backend.contexts()
        await contexts.append("run-1", {}, 0)
        with pytest.raises(ContextConflictError):
            await contexts.append("run-1", {}, 0)
        with pytest.raises(ContextConflictError):
            await contexts.append("run-2", {}, 1)
        assert await contexts.load("run-2") is None


class TestAges:
    async def test_a_context_in_work_leaves_after_its_age(self, backend: Backend) -> None:
        contexts = backend.contexts(ContextRetentionPolicy(1, 600, 600))
        await contexts.append("run-1", {}, 0)
        await contexts.append("run-2", {}, 0)
        assert await contexts.settle("run-2", ContextAge.FINISHED)

        async def gone() -> bool:
            return await contexts.load("run-1") is None

        await wait_until(gone)
        assert await contexts.load("run-1", 1) is None
        assert await contexts.load("run-2") is not None
        assert not await contexts.settle("run-1", ContextAge.FAILED)
        assert await contexts.append("run-1", {}, 0) == 1

    async def test_a_failed_one_after_its_own(self, backend: Backend) -> None:
        contexts = backend.contexts(ContextRetentionPolicy(600, 600, 1))
        await contexts.append("run-1", {}, 0)
        assert await contexts.settle("run-1", ContextAge.FAILED)

        async def gone() -> bool:
            return await contexts.load("run-1") is None

        await wait_until(gone)

    async def test_deleted_it_is_gone_at_once(self, backend: Backend) -> None:
        contexts = backend.contexts()
        await contexts.append("run-1", {}, 0)
        assert await contexts.delete("run-1")
        assert not await contexts.delete("run-1")
        assert await contexts.load("run-1", 1) is None
