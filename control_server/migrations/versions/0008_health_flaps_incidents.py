"""Health and its changes, flaps with their fallback tables, and incidents."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TABLES = (
    "fleet_incidents",
    "prefix_update_rates",
    "flap_transitions",
    "node_prefix_flap_paths",
    "node_prefix_flaps",
    "node_bgp_flaps",
    "node_flap_bases",
    "health_transitions",
    "node_health",
)
_POSITION = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OPEN = sa.text("closed_at IS NULL")


def upgrade() -> None:
    _create_health()
    _create_scores()
    _create_history()
    _create_incidents()


def downgrade() -> None:
    for name in _TABLES:
        op.drop_table(name)


def _text(name: str, *, key: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, primary_key=key)


def _number(name: str, *, key: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, primary_key=key, autoincrement=False)


def _real(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), nullable=False)


def _instant(name: str, *, nullable: bool = False, key: bool = False) -> sa.Column[object]:
    return sa.Column(name, UtcDateTime(), nullable=nullable, primary_key=key)


def _document(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, JsonValue, nullable=nullable)


def _node(*, key: bool = False) -> sa.Column[str]:
    return sa.Column("node_id", sa.Text(), sa.ForeignKey("nodes.id"), nullable=False, primary_key=key)


def _create_health() -> None:
    op.create_table(
        "node_health", _node(key=True), _document("facts"), _document("sessions"), _document("stood")
    )
    op.create_table(
        "health_transitions",
        sa.Column("id", _POSITION, primary_key=True),
        _node(),
        *map(_text, ("part", "before", "after")),
        _document("reasons"),
        _instant("at"),
    )
    op.create_index("ix_health_transitions_node_id_at", "health_transitions", ["node_id", "at"])
    op.create_index("ix_health_transitions_at", "health_transitions", ["at"])


def _create_scores() -> None:
    op.create_table(
        "node_flap_bases",
        _node(key=True),
        _text("kind", key=True),
        *map(_number, ("fencing_token", "reports", "counted")),
        _text("held_in"),
        _instant("from_nothing_at", nullable=True),
        _instant("active_until", nullable=True),
        _document("document", nullable=True),
    )
    op.create_table(
        "node_bgp_flaps",
        _node(key=True),
        _text("session", key=True),
        _real("score"),
        _instant("scored_at"),
        _text("level"),
        _document("entry"),
    )
    op.create_table(
        "node_prefix_flaps",
        _node(key=True),
        _text("prefix", key=True),
        _real("score"),
        _instant("scored_at"),
        _text("level"),
        *map(_number, ("events", "withdrawals")),
        *map(_instant, ("first_at", "last_at")),
    )
    op.create_table(
        "node_prefix_flap_paths",
        _node(key=True),
        _text("prefix", key=True),
        _number("position", key=True),
        _text("path"),
    )


def _create_history() -> None:
    op.create_table(
        "flap_transitions",
        sa.Column("id", _POSITION, primary_key=True),
        _node(),
        *map(_text, ("kind", "subject", "key", "event")),
        _instant("at"),
        _number("weight"),
        *map(_real, ("before", "after")),
        *map(_text, ("level", "reason", "reason_class")),
        sa.UniqueConstraint("node_id", "kind", "subject", "key"),
    )
    op.create_index("ix_flap_transitions_at", "flap_transitions", ["at"])
    op.create_index("ix_flap_transitions_node_id_at", "flap_transitions", ["node_id", "at"])
    op.create_table(
        "prefix_update_rates",
        _node(key=True),
        _instant("at", key=True),
        _real("seconds"),
        *map(_number, ("updates", "withdrawals", "changes")),
    )


def _create_incidents() -> None:
    op.create_table(
        "fleet_incidents",
        sa.Column("id", sa.Uuid(), primary_key=True),
        *map(_text, ("kind", "node_id", "subject", "severity")),
        *map(_instant, ("began_at", "opened_at")),
        _instant("closed_at", nullable=True),
        _instant("clear_since", nullable=True),
        sa.Column("held", sa.Boolean(), nullable=False),
        _document("details"),
    )
    op.create_index("ix_fleet_incidents_opened_at", "fleet_incidents", ["opened_at"])
    op.create_index("ix_fleet_incidents_node_id", "fleet_incidents", ["node_id"])
    op.create_index(
        "uq_fleet_incidents_open",
        "fleet_incidents",
        ["kind", "node_id", "subject"],
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
