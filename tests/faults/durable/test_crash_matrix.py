"""A worker is killed, frozen or doubled at every step of its work, and nothing is lost or done twice."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from shared.durable import CheckpointConflictError, JobState, LeaseLostError, LoopContext, QueuedJob
from shared.testing.waiting import wait_until
from tests.faults.durable.rollout import NODES, RUN, Assignment, RolloutWorker, reconcile

if TYPE_CHECKING:
    from tests.contracts.durable.backends import Backend
    from tests.faults.durable.effects import Effects
    from tests.faults.durable.nursery import Nursery

POINTS = ["before_lease", "after_lease", "after_effect", "after_checkpoint", "after_acknowledge"]


def assignment(backend: Backend, location: tuple[str, str], effects: Effects, role: str) -> Assignment:
    return Assignment(*location, backend.prefix, str(effects.directory), role, lease_seconds=0.5)


async def finish(backend: Backend, effects: Effects, told: Assignment) -> None:
    """What the next worker does; it is this process, nobody kills it, and a busy machine may hold it up."""
    await RolloutWorker(backend, effects, replace(told, lease_seconds=60)).run()


async def assert_done_once_and_completely(backend: Backend, effects: Effects) -> None:
    assert effects.done() == {f"{RUN}-{node}" for node in NODES}
    assert effects.contradictions() == []
    final = await backend.checkpoints().load(RUN)
    assert final is not None
    assert final.cursor == {"node": len(NODES)}
    page = await backend.events().page(RUN)
    assert [stored.event.payload["node"] for stored in page.events] == list(NODES)
    assert (page.gap, page.reset) == (0, False)


@pytest.mark.processes
class TestKilled:
    @pytest.mark.parametrize("point", POINTS)
    async def test_another_worker_goes_on_from_there(
        self, backend: Backend, location: tuple[str, str], effects: Effects, workers: Nursery, point: str
    ) -> None:
        await reconcile(backend, effects)
        told = assignment(backend, location, effects, "rollout")
        doomed = replace(told, stop_at=point, acknowledge_first=point == "after_acknowledge")
        pid = workers.start(doomed)
        await wait_until(lambda: effects.marks() == [point])
        workers.kill(pid)
        # What was acknowledged before it was checkpointed has no job any more: the facts bring it back.
        await reconcile(backend, effects)
        await finish(backend, effects, told)
        await assert_done_once_and_completely(backend, effects)
        assert await backend.places() == {}


@pytest.mark.processes
class TestFrozen:
    async def test_a_worker_that_slept_past_its_lease_is_refused_everywhere(
        self, backend: Backend, location: tuple[str, str], effects: Effects, workers: Nursery
    ) -> None:
        await backend.checkpoints().save(LoopContext(RUN), 0)
        await backend.queue().enqueue(QueuedJob("job-1", "step"))
        pid = workers.start(assignment(backend, location, effects, "holder"))
        await wait_until(lambda: effects.marks() == ["leased"])
        os.kill(pid, signal.SIGSTOP)
        fresh = await backend.queue().lease("worker-2", wait=timedelta(seconds=20))
        assert fresh is not None
        effects.mark("thawed")
        os.kill(pid, signal.SIGCONT)
        await wait_until(lambda: "ended" in effects.marks())
        refused = {"save refused", "renew refused", "acknowledge refused", "release refused"}
        assert set(effects.marks()) == refused | {"leased", "thawed", "ended"}
        assert await backend.queue().state("job-1") is JobState.LEASED
        untouched = await backend.checkpoints().load(RUN)
        assert untouched is not None
        assert untouched.revision == 1
        await backend.queue().acknowledge(fresh)


class TestTwoWorkersOnOneRun:
    async def test_only_one_moves_the_cursor_and_the_other_learns_it(self, backend: Backend) -> None:
        store, queue = backend.checkpoints(), backend.queue()
        await store.save(LoopContext(RUN, cursor={"node": 0}), 0)
        for number in (1, 2):
            await queue.enqueue(QueuedJob(f"job-{number}", "step"))
        both_have_loaded = asyncio.Barrier(2)

        async def advance(worker: str) -> bool:
            lease = await queue.lease(worker)
            context = await store.load(RUN)
            assert lease is not None
            assert context is not None
            await both_have_loaded.wait()
            context.cursor = {"node": context.cursor["node"] + 1, "by": worker}
            try:
                await store.save(context, lease=lease)
            except CheckpointConflictError:
                return False
            finally:
                await queue.acknowledge(lease)
            return True

        won = await asyncio.gather(advance("worker-1"), advance("worker-2"))
        assert sorted(won) == [False, True]
        final = await store.load(RUN)
        assert final is not None
        assert final.cursor == {"node": 1, "by": f"worker-{won.index(True) + 1}"}

    async def test_two_processes_finish_it_together(
        self, backend: Backend, location: tuple[str, str], effects: Effects, workers: Nursery
    ) -> None:
        await reconcile(backend, effects)
        told = assignment(backend, location, effects, "rollout")
        workers.start(replace(told, worker="worker-2"))
        await finish(backend, effects, told)
        await assert_done_once_and_completely(backend, effects)


class TestEmptied:
    async def test_in_mid_run_everything_comes_back_from_the_facts(
        self, backend: Backend, location: tuple[str, str], effects: Effects
    ) -> None:
        await reconcile(backend, effects)
        told = assignment(backend, location, effects, "rollout")
        worker = RolloutWorker(backend, effects, told)
        lease = await worker.queue.lease("worker-1")
        assert lease is not None
        await worker.step(lease)
        stale = await worker.queue.lease("worker-1")
        assert stale is not None
        held = await backend.checkpoints().load(RUN)
        assert held is not None
        await backend.forget_everything()
        with pytest.raises(LeaseLostError):
            await worker.queue.acknowledge(stale)
        with pytest.raises(CheckpointConflictError) as refused:
            await backend.checkpoints().save(held)
        assert refused.value.current is None
        page = await backend.events().page(RUN, "0-1")
        assert page.reset
        await reconcile(backend, effects)
        await finish(backend, effects, told)
        await assert_done_once_and_completely(backend, effects)
