"""The fleet: facts of routing, pools, peerings, links, generations, and what agents say of their nodes."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TABLES = (
    "node_reports",
    "generations",
    "node_links",
    "peerings",
    "ipam_allocations",
    "ipam_pools",
    "fleet_policy",
)


def upgrade() -> None:
    _widen_nodes()
    _create_policy_and_pools()
    _create_relations()
    _create_history()


def downgrade() -> None:
    for name in _TABLES:
        op.drop_table(name)
    with op.batch_alter_table("agents") as agents:
        agents.drop_column("keys")
    with op.batch_alter_table("nodes") as nodes:
        for name in ("routing", "maintenance", "version", "generation"):
            nodes.drop_column(name)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _number(name: str, *, nullable: bool = False, key: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable, primary_key=key, autoincrement=False)


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, UtcDateTime(), nullable=nullable)


def _document(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, JsonValue, nullable=nullable)


def _node(name: str, *, key: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), sa.ForeignKey("nodes.id"), nullable=False, primary_key=key)


def _widen_nodes() -> None:
    with op.batch_alter_table("nodes") as nodes:
        nodes.add_column(sa.Column("routing", JsonValue, nullable=False, server_default="{}"))
        nodes.add_column(_document("maintenance", nullable=True))
        nodes.add_column(sa.Column("version", sa.BigInteger(), nullable=False, server_default="1"))
        nodes.add_column(sa.Column("generation", sa.BigInteger(), nullable=False, server_default="0"))
    with op.batch_alter_table("agents") as agents:
        agents.add_column(_document("keys", nullable=True))


def _create_policy_and_pools() -> None:
    op.create_table(
        "fleet_policy",
        _number("id", key=True),
        _document("document"),
        _number("version"),
        _instant("updated_at"),
        _text("updated_by"),
    )
    op.create_table(
        "ipam_pools",
        sa.Column("name", sa.Text(), primary_key=True),
        _text("kind"),
        _text("range"),
        _instant("created_at"),
    )
    position = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "ipam_allocations",
        sa.Column("id", position, primary_key=True),
        _text("kind"),
        _text("scope"),
        _text("value"),
        _text("holder"),
        sa.Column("pool", sa.Text(), sa.ForeignKey("ipam_pools.name"), nullable=True),
        _instant("created_at"),
        sa.UniqueConstraint("kind", "scope", "value"),
    )
    op.create_index("ix_ipam_allocations_holder", "ipam_allocations", ["holder"])
    op.create_index("ix_ipam_allocations_pool", "ipam_allocations", ["pool"])


def _create_relations() -> None:
    op.create_table(
        "peerings",
        sa.Column("id", sa.Text(), primary_key=True),
        _node("node_id"),
        _text("name"),
        _number("asn"),
        _text("description"),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        _document("document"),
        _number("version"),
        _instant("created_at"),
        _instant("updated_at"),
        sa.UniqueConstraint("node_id", "name"),
    )
    op.create_index("ix_peerings_node_id", "peerings", ["node_id"])
    op.create_index("ix_peerings_asn", "peerings", ["asn"])
    op.create_table(
        "node_links",
        sa.Column("id", sa.Text(), primary_key=True),
        _node("node_a"),
        _node("node_b"),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        _document("document"),
        _number("version"),
        _instant("created_at"),
        _instant("updated_at"),
        sa.UniqueConstraint("node_a", "node_b"),
    )
    op.create_index("ix_node_links_node_a", "node_links", ["node_a"])
    op.create_index("ix_node_links_node_b", "node_links", ["node_b"])


def _create_history() -> None:
    op.create_table(
        "generations",
        _node("node_id", key=True),
        _number("number", key=True),
        _text("sha256"),
        _document("state"),
        _document("facts"),
        _document("changes"),
        _text("reason"),
        _text("actor_kind"),
        _text("actor_name"),
        _instant("created_at"),
    )
    op.create_table(
        "node_reports",
        _node("node_id", key=True),
        _document("apply_result", nullable=True),
        _instant("applied_at", nullable=True),
        _document("drift", nullable=True),
        _instant("drift_at", nullable=True),
        _document("snapshot", nullable=True),
        _instant("snapshot_at", nullable=True),
        _number("applied_generation", nullable=True),
    )
