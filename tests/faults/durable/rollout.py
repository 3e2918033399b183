"""A small rollout over three nodes, as a worker process runs it, with points at which it can be killed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from shared.durable import LeaseLostError, LoopContext, LoopEvent, QueuedJob, QueuePolicy
from tests.contracts.durable.backends import START, open_backend
from tests.faults.durable.effects import Effects

if TYPE_CHECKING:
    from shared.durable import QueueLease
    from tests.contracts.durable.backends import AnyQueue, Backend

RUN = "rollout-1"
NODES = ("node-a", "node-b", "node-c")
#: A job of the bulk test may be delivered so often: its workers are killed all the time.
PATIENT = QueuePolicy()


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a worker process is told."""

    backend: str
    url: str
    prefix: str
    effects: str
    role: str
    worker: str = "worker-1"
    lease_seconds: float = 1.0
    #: Where to stop and wait to be killed.
    stop_at: str = ""
    acknowledge_first: bool = False


@dataclass(slots=True)
class RolloutWorker:
    """One step a job: apply to a node, checkpoint under the lease, tell, continue, acknowledge."""

    backend: Backend
    effects: Effects
    assignment: Assignment

    @property
    def queue(self) -> AnyQueue:
        return self.backend.queue(lease_seconds=self.assignment.lease_seconds)

    async def reach(self, point: str) -> None:
        if point == self.assignment.stop_at:
            self.effects.mark(point)
            await asyncio.Event().wait()

    async def run(self) -> None:
        await self.reach("before_lease")
        while not await self.finished():
            lease = await self.queue.lease(self.assignment.worker, wait=timedelta(seconds=0.2))
            if lease is not None:
                await self.step(lease)

    async def finished(self) -> bool:
        context = await self.backend.checkpoints().load(RUN)
        if context is None or context.cursor["node"] < len(NODES):
            return False
        counts = await self.queue.counts()
        return counts.pending + counts.delayed + counts.leased == 0

    async def step(self, lease: QueueLease) -> None:
        await self.reach("after_lease")
        context = await self.backend.checkpoints().load(RUN)
        assert context is not None
        number = context.cursor["node"]
        if lease.job.payload["node"] == number:
            self.effects.apply(f"{RUN}-{NODES[number]}", f"generation {number + 1}")
            await self.reach("after_effect")
            if self.assignment.acknowledge_first:
                await self.queue.acknowledge(lease)
                await self.reach("after_acknowledge")
            context.cursor = {"node": number + 1}
            holder = None if self.assignment.acknowledge_first else lease
            await self.backend.checkpoints().save(context, lease=holder)
            await self.reach("after_checkpoint")
        await announce_and_continue(self.backend, context)
        if not self.assignment.acknowledge_first:
            await self.queue.acknowledge(lease)


async def announce_and_continue(backend: Backend, context: LoopContext) -> None:
    """Say what is done and enqueue what is next; repeating either changes nothing."""
    done = context.cursor["node"]
    for number in range(1, done + 1):
        event = LoopEvent(RUN, "node_applied", START, {"node": NODES[number - 1]})
        await backend.events().publish(event, sequence=number)
    if done < len(NODES):
        await backend.queue().enqueue(QueuedJob(f"{RUN}-step-{done}", "step", {"node": done}, run_id=RUN))


async def reconcile(backend: Backend, effects: Effects) -> None:
    """Make from the facts whatever is missing: the checkpoint, the events, the job of the next step."""
    context = await backend.checkpoints().load(RUN)
    if context is None:
        done = len([node for node in NODES if f"{RUN}-{node}" in effects.done()])
        context = LoopContext(RUN, plan=list(NODES), cursor={"node": done})
        await backend.checkpoints().save(context, 0)
    await announce_and_continue(backend, context)


async def process_jobs(backend: Backend, effects: Effects, assignment: Assignment) -> None:
    """Take independent jobs for ever; each has one effect under its own idempotency key."""
    queue = backend.queue(PATIENT, lease_seconds=assignment.lease_seconds)
    while True:
        lease = await queue.lease(assignment.worker, wait=timedelta(seconds=0.1))
        if lease is None:
            continue
        effects.apply(lease.job.job_id, "done")
        await asyncio.sleep(0.01)  # long enough to be killed between the effect and its acknowledgement
        try:
            await queue.acknowledge(lease)
        except LeaseLostError:
            effects.mark("lost")


async def hold_a_lease(backend: Backend, effects: Effects, assignment: Assignment) -> None:
    """Take a job, wait to be frozen, and on waking try everything that a stale worker could do."""
    queue = backend.queue(lease_seconds=assignment.lease_seconds)
    lease = await queue.lease(assignment.worker)
    assert lease is not None
    effects.mark("leased")
    while "thawed" not in effects.marks():
        await asyncio.sleep(0.02)
    context = await backend.checkpoints().load(RUN) or LoopContext(RUN)
    attempts = {
        "save": backend.checkpoints().save(context, lease=lease),
        "renew": queue.renew(lease),
        "acknowledge": queue.acknowledge(lease),
        "release": queue.release(lease),
    }
    for name, attempt in attempts.items():
        try:
            await attempt
        except LeaseLostError:
            effects.mark(f"{name} refused")
        else:
            effects.mark(f"{name} accepted")
    effects.mark("ended")


async def work(assignment: Assignment) -> None:
    """What a worker process does."""
    effects = Effects(Path(assignment.effects))
    async with open_backend(assignment.backend, assignment.url) as backend:
        backend.prefix = assignment.prefix
        if assignment.role == "rollout":
            await RolloutWorker(backend, effects, assignment).run()
        elif assignment.role == "jobs":
            await process_jobs(backend, effects, assignment)
        else:
            await hold_a_lease(backend, effects, assignment)
