"""Background jobs: the queues in SQL, workers and results; channels, incidents and deliveries."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES = (
    "notification_deliveries",
    "incidents",
    "notification_channels",
    "job_results",
    "job_workers",
    "durable_context_revisions",
    "durable_contexts",
    "durable_event_heads",
    "durable_events",
    "durable_runs",
    "durable_dedupe",
    "durable_jobs",
    "durable_checkpoints",
)


def upgrade() -> None:
    _create_queue()
    _create_loops()
    _create_job_facts()
    _create_alerts()


def downgrade() -> None:
    for name in _TABLES:
        op.drop_table(name)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable, autoincrement=False)


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, UtcDateTime(), nullable=nullable)


def _body() -> sa.Column[bytes]:
    return sa.Column("body", sa.LargeBinary(), nullable=False)


def _create_queue() -> None:
    position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "durable_jobs",
        sa.Column("position", position, autoincrement=True, nullable=False),
        _text("prefix"),
        _text("job_id"),
        _body(),
        _text("place"),
        _number("due_at"),
        _number("enqueued_at"),
        _number("attempts"),
        _number("deliveries"),
        _text("lease_id", nullable=True),
        _text("worker_id", nullable=True),
        _number("lease_expires_at", nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        _number("died_at", nullable=True),
        _text("error", nullable=True),
        sa.PrimaryKeyConstraint("position", name="pk_durable_jobs"),
        sa.UniqueConstraint("prefix", "job_id", name="uq_durable_jobs_prefix_job_id"),
    )
    op.create_index("ix_durable_jobs_next", "durable_jobs", ["prefix", "place", "due_at", "position"])
    _aging("dedupe", "key", _text("job_id"))


def _create_loops() -> None:
    _aging("checkpoints", "run_id", _body(), _number("updated_at"))
    _aging("runs", "run_id", _number("version"), _body(), _number("created_at"))
    op.create_index("ix_durable_runs_prefix_created_at", "durable_runs", ["prefix", "created_at"])
    _aging("event_heads", "run_id", _number("last"))
    _aging("contexts", "run_id", _number("latest"))
    for name, key in (("events", "sequence"), ("context_revisions", "revision")):
        op.create_table(
            f"durable_{name}",
            _text("prefix"),
            _text("run_id"),
            _number(key),
            _body(),
            sa.PrimaryKeyConstraint("prefix", "run_id", key, name=f"pk_durable_{name}"),
        )


def _aging(
    name: str, key: str, *columns: sa.Column[object] | sa.Column[int] | sa.Column[str] | sa.Column[bytes]
) -> None:
    table = f"durable_{name}"
    keys = sa.PrimaryKeyConstraint("prefix", key, name=f"pk_{table}")
    op.create_table(table, _text("prefix"), _text(key), *columns, _number("expires_at", nullable=True), keys)
    op.create_index(f"ix_{table}_expires_at", table, ["expires_at"])


def _create_job_facts() -> None:
    op.create_table(
        "job_workers",
        _text("id"),
        _instant("started_at"),
        _instant("seen_at"),
        sa.Column("running", JsonValue, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_job_workers"),
    )
    op.create_index("ix_job_workers_seen_at", "job_workers", ["seen_at"])
    op.create_table(
        "job_results",
        _text("kind"),
        _instant("finished_at"),
        _text("outcome"),
        _number("milliseconds"),
        _text("error"),
        sa.PrimaryKeyConstraint("kind", name="pk_job_results"),
    )


def _create_alerts() -> None:
    op.create_table(
        "notification_channels",
        _text("id"),
        _text("name"),
        _text("url"),
        _text("secret"),
        _instant("created_at"),
        _text("created_by"),
        _instant("deleted_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notification_channels"),
    )
    op.create_table(
        "incidents",
        sa.Column("id", sa.Uuid(), nullable=False),
        _text("node_id"),
        _instant("opened_at"),
        _instant("closed_at", nullable=True),
        _instant("last_seen_at"),
        sa.PrimaryKeyConstraint("id", name="pk_incidents"),
    )
    still_open = sa.text("closed_at IS NULL")
    op.create_index(
        "uq_incidents_open",
        "incidents",
        ["node_id"],
        unique=True,
        sqlite_where=still_open,
        postgresql_where=still_open,
    )
    op.create_index("ix_incidents_opened_at", "incidents", ["opened_at"])
    op.create_table(
        "notification_deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        _text("channel_id"),
        sa.Column("incident_id", sa.Uuid(), nullable=True),
        _text("event"),
        _text("body"),
        _text("state"),
        _number("attempts"),
        _instant("created_at"),
        _instant("finished_at", nullable=True),
        _text("error"),
        sa.PrimaryKeyConstraint("id", name="pk_notification_deliveries"),
        sa.ForeignKeyConstraint(
            ["channel_id"],
            ["notification_channels.id"],
            name="fk_notification_deliveries_channel_id_notification_channels",
        ),
    )
    op.create_index("ix_notification_deliveries_state", "notification_deliveries", ["state", "created_at"])
    op.create_index("ix_notification_deliveries_incident_id", "notification_deliveries", ["incident_id"])
