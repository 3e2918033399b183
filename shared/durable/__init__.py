"""Durable loops: checkpoints, a leased queue, run records, event streams and retained contexts.

Five stores with five duties, on Valkey or Redis (`Redis...`) and on PostgreSQL or SQLite (`Sql...`),
behind the same protocols. `shared.durable.client` builds a client for an application that has none.
"""

from shared.durable.codecs import CheckpointCodec, LoopCheckpointCodec, PayloadCodec, RedisPayloadCodec
from shared.durable.config import (
    Backoff,
    ContextRetentionPolicy,
    DurableConfig,
    QueuePolicy,
    RedisConfig,
    Retention,
    SqlConfig,
)
from shared.durable.doorbell import Doorbell, LocalDoorbell
from shared.durable.errors import (
    CapacityExceededError,
    CheckpointConflictError,
    ContextConflictError,
    EventConflictError,
    IdentifierRefusedError,
    LeaseLostError,
    PayloadError,
    PrefixRefusedError,
    RedisPayloadError,
    RunConflictError,
)
from shared.durable.keys import check_shared_slot
from shared.durable.leasing import KeptLease
from shared.durable.protocols import (
    AsyncRedisClient,
    CheckpointStore,
    ContextStore,
    EventPublisher,
    QueueBackend,
    RunRepository,
    StagingClient,
)
from shared.durable.records import (
    CancelOutcome,
    CheckpointSummary,
    ContextAge,
    DeadJob,
    Dedupe,
    Enqueued,
    EventPage,
    JobState,
    LeasedJob,
    LoopContext,
    LoopEvent,
    QueueCounts,
    QueuedJob,
    QueueLease,
    Reclaimed,
    ReleaseOutcome,
    Renewal,
    RetainedContext,
    RunRecord,
    RunState,
    StoredEvent,
)
from shared.durable.redis_checkpoints import RedisCheckpointStore
from shared.durable.redis_contexts import RedisContextStore
from shared.durable.redis_events import RedisEventPublisher
from shared.durable.redis_queue import RedisQueueBackend
from shared.durable.redis_runs import RedisRunRepository
from shared.durable.schedules import Schedule, enqueue_due
from shared.durable.sql_checkpoints import SqlCheckpointStore
from shared.durable.sql_contexts import SqlContextStore
from shared.durable.sql_events import SqlEventPublisher
from shared.durable.sql_queue import SqlQueueBackend
from shared.durable.sql_runs import SqlRunRepository
from shared.durable.sql_tables import DurableTables, SqlStorage, durable_tables

__all__ = [
    "AsyncRedisClient",
    "Backoff",
    "CancelOutcome",
    "CapacityExceededError",
    "CheckpointCodec",
    "CheckpointConflictError",
    "CheckpointStore",
    "CheckpointSummary",
    "ContextAge",
    "ContextConflictError",
    "ContextRetentionPolicy",
    "ContextStore",
    "DeadJob",
    "Dedupe",
    "Doorbell",
    "DurableConfig",
    "DurableTables",
    "Enqueued",
    "EventConflictError",
    "EventPage",
    "EventPublisher",
    "IdentifierRefusedError",
    "JobState",
    "KeptLease",
    "LeaseLostError",
    "LeasedJob",
    "LocalDoorbell",
    "LoopCheckpointCodec",
    "LoopContext",
    "LoopEvent",
    "PayloadCodec",
    "PayloadError",
    "PrefixRefusedError",
    "QueueBackend",
    "QueueCounts",
    "QueueLease",
    "QueuePolicy",
    "QueuedJob",
    "Reclaimed",
    "RedisCheckpointStore",
    "RedisConfig",
    "RedisContextStore",
    "RedisEventPublisher",
    "RedisPayloadCodec",
    "RedisPayloadError",
    "RedisQueueBackend",
    "RedisRunRepository",
    "ReleaseOutcome",
    "Renewal",
    "RetainedContext",
    "Retention",
    "RunConflictError",
    "RunRecord",
    "RunRepository",
    "RunState",
    "Schedule",
    "SqlCheckpointStore",
    "SqlConfig",
    "SqlContextStore",
    "SqlEventPublisher",
    "SqlQueueBackend",
    "SqlRunRepository",
    "SqlStorage",
    "StagingClient",
    "StoredEvent",
    "check_shared_slot",
    "durable_tables",
    "enqueue_due",
]
