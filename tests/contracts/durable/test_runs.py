"""What every run repository promises."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.durable import Retention, RunConflictError, RunState
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import START, Backend, run_record


class TestCreate:
    async def test_what_is_read_is_what_was_created(self, backend: Backend) -> None:
        runs = backend.runs()
        record = run_record(request={"nodes": ["node-a"], "big": 2**53 + 1}, error="早")
        await runs.create(record)
        assert await runs.get("run-1") == record

    async def test_refuses_a_second_one(self, backend: Backend) -> None:
        runs = backend.runs()
        await runs.create(run_record())
        with pytest.raises(RunConflictError) as refused:
            await runs.create(run_record(kind="other"))
        assert (refused.value.expected, refused.value.current) == (None, 0)
        assert await runs.get("run-1") == run_record()

    async def test_there_is_none_before(self, backend: Backend) -> None:
        assert await backend.runs().get("run-1") is None


class TestCompareAndSet:
    async def test_grows_the_version_by_one(self, backend: Backend) -> None:
        runs = backend.runs()
        await runs.create(run_record())
        written = await runs.compare_and_set(run_record(state=RunState.RUNNING), 0)
        assert written == run_record(state=RunState.RUNNING, version=1)
        assert await runs.get("run-1") == written

    async def test_of_many_writers_one_wins_and_the_others_are_told_why(self, backend: Backend) -> None:
        runs = backend.runs()
        await runs.create(run_record())
        records = [run_record(outcome={"writer": number}) for number in range(12)]
        results = await asyncio.gather(
            *(runs.compare_and_set(record, 0) for record in records), return_exceptions=True
        )
        won = [result for result in results if not isinstance(result, BaseException)]
        assert len(won) == 1
        assert all(isinstance(result, RunConflictError) for result in results if result not in won)
        assert await runs.get("run-1") == won[0]

    async def test_refuses_what_is_not_there(self, backend: Backend) -> None:
        with pytest.raises(RunConflictError) as refused:
            await backend.runs().compare_and_set(run_record(), 0)
        assert refused.value.current is None


class TestList:
    async def test_the_latest_created_first_in_pages(self, backend: Backend) -> None:
        runs = backend.runs()
        for number in range(5):
            await runs.create(run_record(f"run-{number}", created_at=START + timedelta(seconds=number)))
        await runs.compare_and_set(run_record("run-2", created_at=START + timedelta(seconds=2)), 0)
        listed = await runs.list_recent(limit=3, offset=1)
        assert [record.run_id for record in listed] == ["run-3", "run-2", "run-1"]

    async def test_is_empty_when_there_are_none(self, backend: Backend) -> None:
        assert list(await backend.runs().list_recent()) == []


class TestDelete:
    async def test_removes_the_expected_version_from_the_list_too(self, backend: Backend) -> None:
        runs = backend.runs()
        await runs.create(run_record())
        with pytest.raises(RunConflictError):
            await runs.delete("run-1", 4)
        assert await runs.delete("run-1", 0)
        assert not await runs.delete("run-1")
        assert list(await runs.list_recent()) == []


class TestRetention:
    async def test_counts_from_the_end_of_the_run_and_empties_the_list(self, backend: Backend) -> None:
        runs = backend.runs(Retention(keep=timedelta(milliseconds=80)))
        record = run_record()
        await runs.create(record)
        await runs.create(run_record("run-2"))
        await runs.compare_and_set(replace(record, state=RunState.COMPLETED), 0)

        async def gone() -> bool:
            return await runs.get("run-1") is None

        await wait_until(gone)
        assert [found.run_id for found in await runs.list_recent()] == ["run-2"]
