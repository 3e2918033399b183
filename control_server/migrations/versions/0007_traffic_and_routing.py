"""Traffic: last samples and archives. Routing: tables of nodes, and what became of best paths."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TABLES = (
    "route_changes",
    "routes",
    "routing_states",
    "traffic_fleet",
    "traffic_archive",
    "node_traffic_last_sample",
)


def upgrade() -> None:
    _create_traffic()
    _create_routing()
    _create_history()


def downgrade() -> None:
    for name in _TABLES:
        op.drop_table(name)


def _text(name: str, *, nullable: bool = False, key: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable, primary_key=key)


def _number(name: str, *, nullable: bool = False, key: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable, primary_key=key, autoincrement=False)


def _instant(name: str, *, nullable: bool = False, key: bool = False) -> sa.Column[object]:
    return sa.Column(name, UtcDateTime(), nullable=nullable, primary_key=key)


def _measure(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), nullable=False)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False)


def _node() -> sa.Column[str]:
    return sa.Column("node_id", sa.Text(), sa.ForeignKey("nodes.id"), nullable=False, primary_key=True)


def _create_traffic() -> None:
    op.create_table(
        "node_traffic_last_sample",
        _node(),
        _text("stream"),
        _number("sequence"),
        _instant("received_at"),
        sa.Column("sample", JsonValue, nullable=False),
    )
    op.create_table(
        "traffic_archive",
        _node(),
        _number("step", key=True),
        _instant("at", key=True),
        _text("interface", key=True),
        _text("peer", key=True),
        _text("kind"),
        _measure("seconds"),
        _number("received_bytes"),
        _number("sent_bytes"),
        _number("received_packets", nullable=True),
        _number("sent_packets", nullable=True),
        _measure("received_peak"),
        _measure("sent_peak"),
    )
    op.create_index("ix_traffic_archive_step_at", "traffic_archive", ["step", "at"])
    op.create_index("ix_traffic_archive_interface_step_at", "traffic_archive", ["interface", "step", "at"])
    op.create_table(
        "traffic_fleet",
        _number("step", key=True),
        _instant("at", key=True),
        _number("received_bytes"),
        _number("sent_bytes"),
    )


def _create_routing() -> None:
    op.create_table(
        "routing_states",
        _node(),
        _text("stream"),
        _number("sequence"),
        _number("rounds"),
        _number("mark"),
        _flag("synchronising"),
        _instant("complete_at", nullable=True),
        _instant("taken_at", nullable=True),
        _instant("received_at", nullable=True),
        _instant("daemon_started_at", nullable=True),
        _text("sight"),
        _text("reason"),
    )
    op.create_table(
        "routes",
        _node(),
        _text("prefix", key=True),
        _text("protocol", key=True),
        _number("ordinal", key=True),
        _number("family"),
        _number("length"),
        _text("lowest"),
        _flag("best"),
        _flag("filtered"),
        _number("reason", nullable=True),
        _number("origin", nullable=True),
        _text("path"),
        _number("hops", nullable=True),
        _text("validity"),
        _text("next_hop"),
        _number("local_pref", nullable=True),
        _instant("since", nullable=True),
        _number("mark"),
    )
    for column in ("prefix", "lowest", "origin"):
        op.create_index(f"ix_routes_{column}", "routes", [column])


def _create_history() -> None:
    op.create_table(
        "route_changes",
        _node(),
        _number("round", key=True),
        _text("prefix", key=True),
        _instant("at"),
        _text("kind"),
        _text("cause"),
        _text("before_protocol", nullable=True),
        _text("before_path", nullable=True),
        _number("before_origin", nullable=True),
        _text("after_protocol", nullable=True),
        _text("after_path", nullable=True),
        _number("after_origin", nullable=True),
    )
    for columns in (["prefix", "at"], ["node_id", "at"], ["at"]):
        op.create_index(f"ix_route_changes_{'_'.join(columns)}", "route_changes", columns)
