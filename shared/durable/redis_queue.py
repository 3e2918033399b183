"""The leased queue on Valkey or Redis. Every change is one script; every deadline is the server's."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from shared.durable.codecs import RedisPayloadCodec
from shared.durable.config import QueuePolicy, RedisConfig
from shared.durable.errors import CapacityExceededError, LeaseLostError, RedisPayloadError
from shared.durable.keys import DurableKeys, check_identifier
from shared.durable.leasing import Idle, KeptLease, LeaseAttempts, wait_for_lease
from shared.durable.records import (
    CancelOutcome,
    DeadJob,
    Dedupe,
    Enqueued,
    JobState,
    LeasedJob,
    QueueCounts,
    QueuedJob,
    QueueLease,
    Reclaimed,
    ReleaseOutcome,
    Renewal,
)
from shared.durable.redis_replies import ScriptReply, as_number, as_text, run_script
from shared.durable.wire import (
    decode_job,
    decode_job_if_readable,
    encode_job,
    from_milliseconds,
    milliseconds,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.durable.codecs import PayloadCodec
    from shared.durable.protocols import AsyncRedisClient

#: What of an error's text is kept with a job.
ERROR_LIMIT = 1000


class RedisQueueBackend:
    """Leased jobs, delivered at least once."""

    def __init__(
        self,
        client: AsyncRedisClient,
        config: RedisConfig | None = None,
        codec: PayloadCodec | None = None,
        *,
        policy: QueuePolicy | None = None,
    ) -> None:
        """Use the application's client, which stays the application's to close."""
        self._client = client
        self._config = config or RedisConfig()
        self._keys = DurableKeys(self._config.prefix)
        self._codec = codec or RedisPayloadCodec()
        self._policy = policy or QueuePolicy()

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts."""
        return self._config.lease_seconds

    async def enqueue(
        self, job: QueuedJob, *, delay: timedelta | None = None, dedupe: Dedupe | None = None
    ) -> Enqueued:
        """Add the job unless it is there; see QueueBackend."""
        doorbell = self._policy.doorbell
        keys = [] if dedupe is None else [self._keys.queue_dedupe(dedupe.key)]
        keys += self._bell
        window = milliseconds(dedupe.window) if dedupe else 0
        stored = encode_job(self._codec, job)
        arguments = (check_identifier(job.job_id), stored, milliseconds(delay), window, self._policy.max_jobs)
        reply = await self._run("enqueue", *arguments, further_keys=keys)
        if reply.status == "full":
            raise CapacityExceededError(f"The queue holds {self._policy.max_jobs} jobs, its limit.")
        if reply.status not in {"created", "present"}:
            raise reply.odd()
        if doorbell is not None:
            doorbell.ring()
        return Enqueued(as_text(reply.value()), created=reply.status == "created")

    async def lease(self, worker_id: str, *, wait: timedelta | None = None) -> QueueLease | None:
        """Take the next job, waiting for one at most so long."""
        check_identifier(worker_id)
        attempts = LeaseAttempts(
            once=lambda: self._lease_now(worker_id),
            give_back=lambda lease: self.release(lease, counts=False),
        )
        return await wait_for_lease(attempts, wait, self._policy.doorbell)

    async def renew(self, lease: QueueLease) -> Renewal:
        """Prolong the lease by its full length from now."""
        reply = await self._run("renew", *_held(lease), self._config.lease_milliseconds)
        _expect(reply, "renewed")
        return Renewal(from_milliseconds(reply.number()), cancel_requested=bool(reply.number(1)))

    def keep_alive(self, lease: QueueLease) -> KeptLease:
        """Renew while the block runs; LeaseLostError leaves it when the lease is lost."""
        return KeptLease(self, lease)

    async def acknowledge(self, lease: QueueLease) -> None:
        """The job is done and gone."""
        _expect(await self._run("acknowledge", *_held(lease)), "done")

    async def release(
        self,
        lease: QueueLease,
        *,
        delay: timedelta | None = None,
        counts: bool = True,
        error: str | None = None,
    ) -> ReleaseOutcome:
        """Give the job back, after the back-off of the policy unless a delay is given."""
        pause = milliseconds(delay)
        if delay is None and counts and self._policy.backoff is not None:
            pause = milliseconds(self._policy.backoff.pause(lease.attempt))
        arguments = (pause, self._policy.max_attempts, int(counts), (error or "")[:ERROR_LIMIT])
        reply = await self._run("release", *_held(lease), *arguments)
        _expect(reply, *ReleaseOutcome)
        return ReleaseOutcome(reply.status)

    async def cancel(self, job_id: str) -> CancelOutcome:
        """Stop a waiting job, mark a leased one."""
        reply = await self._run("cancel", job_id)
        _expect(reply, *CancelOutcome)
        return CancelOutcome(reply.status)

    async def reclaim(self, limit: int = 100) -> Reclaimed:
        """Put jobs of expired leases back, and due ones forward."""
        reply = await self._run("reclaim", limit, self._policy.max_attempts)
        _expect(reply, "reclaimed")
        return Reclaimed(waiting=reply.number(), dead=reply.number(1), cancelled=reply.number(2))

    async def state(self, job_id: str) -> JobState | None:
        """Return where the job is."""
        reply = await self._run("queue_state", check_identifier(job_id))
        _expect(reply, "absent", *JobState)
        return None if reply.status == "absent" else JobState(reply.status)

    async def counts(self) -> QueueCounts:
        """How many jobs are where."""
        reply = await self._run("queue_state", "")
        _expect(reply, "counts")
        pending, delayed, leased, dead, oldest = (reply.number(position) for position in range(5))
        return QueueCounts(pending, delayed, leased, dead, oldest_wait=timedelta(milliseconds=oldest))

    async def leased(self, limit: int = 100) -> Sequence[LeasedJob]:
        """Return who holds what, the first lease to run out first."""
        reply = await self._run("leased", limit)
        _expect(reply, "leased")
        rows = [reply.values[start : start + 5] for start in range(0, len(reply.values), 5)]
        return [
            LeasedJob(
                job_id=as_text(job_id),
                job=decode_job_if_readable(self._codec, payload),
                worker_id=as_text(worker_id),
                attempts=as_number(attempts),
                expires_at=from_milliseconds(round(float(as_text(expires)))),
            )
            for job_id, payload, attempts, expires, worker_id in rows
        ]

    async def dead(self, limit: int = 100) -> Sequence[DeadJob]:
        """Return the jobs that used up their attempts, the latest first."""
        reply = await self._run("dead", limit)
        _expect(reply, "dead")
        rows = [reply.values[start : start + 5] for start in range(0, len(reply.values), 5)]
        return [
            DeadJob(
                job_id=as_text(job_id),
                job=decode_job_if_readable(self._codec, payload),
                attempts=as_number(attempts),
                died_at=from_milliseconds(round(float(as_text(died)))),
                error=as_text(error) or None,
            )
            for job_id, payload, attempts, died, error in rows
        ]

    async def requeue_dead(self, *job_ids: str) -> int:
        """Give dead jobs all their attempts again."""
        reply = await self._run("requeue_dead", *job_ids, further_keys=self._bell)
        _expect(reply, "requeued")
        if self._policy.doorbell is not None:
            self._policy.doorbell.ring()
        return reply.number()

    async def purge_dead(self, older_than: timedelta, limit: int = 1000) -> int:
        """Forget jobs that have been dead for so long."""
        reply = await self._run("purge_dead", milliseconds(older_than), limit)
        _expect(reply, "purged")
        return reply.number()

    @property
    def _bell(self) -> list[str]:
        """The list that scripts ring, if the server is to ring at all."""
        doorbell = self._policy.doorbell
        return [doorbell.key] if doorbell is not None and doorbell.key else []

    async def _lease_now(self, worker_id: str) -> QueueLease | Idle:
        policy, lease_id = self._policy, uuid4().hex
        limits = (policy.max_attempts, policy.max_leased, policy.sweep_limit)
        reply = await self._run("lease", lease_id, worker_id, self._config.lease_milliseconds, *limits)
        if reply.status == "none":
            change = reply.number()
            return Idle(None if change < 0 else timedelta(milliseconds=change))
        _expect(reply, "leased")
        job = decode_job(self._codec, reply.value(1))
        if job.job_id != as_text(reply.value()):
            raise RedisPayloadError("The stored job names another id.")
        return QueueLease(
            lease_id=lease_id,
            job=job,
            worker_id=worker_id,
            expires_at=from_milliseconds(reply.number(2)),
            fence=reply.number(3),
            attempt=reply.number(4),
        )

    async def _run(self, name: str, *arguments: Any, further_keys: Sequence[str] = ()) -> ScriptReply:
        return await run_script(self._client, name, [*self._keys.queue, *further_keys], *arguments)


def _held(lease: QueueLease) -> tuple[str, str]:
    return lease.job.job_id, lease.lease_id


def _expect(reply: ScriptReply, *words: str) -> None:
    if reply.status == "lost":
        raise LeaseLostError
    if reply.status not in words:
        raise reply.odd()
