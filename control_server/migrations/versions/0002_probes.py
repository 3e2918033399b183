"""Probes, their shares and their lines."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_probes()
    _create_probe_nodes()
    _create_probe_lines()


def downgrade() -> None:
    op.drop_table("probe_lines")
    op.drop_table("probe_nodes")
    op.drop_table("probes")


def _create_probes() -> None:
    op.create_table(
        "probes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("epoch", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("options", JsonValue, nullable=False),
        sa.Column("limits", JsonValue, nullable=False),
        sa.Column("actor_kind", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=True),
        sa.Column("cancelled_at", UtcDateTime(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.Column("archived_seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_probes"),
    )
    op.create_index("ix_probes_actor_id", "probes", ["actor_id"], unique=False)
    op.create_index("ix_probes_created_at_id", "probes", ["created_at", "id"], unique=False)
    op.create_index("ix_probes_state", "probes", ["state"], unique=False)
    op.create_index("ix_probes_target", "probes", ["target"], unique=False)


def _create_probe_nodes() -> None:
    op.create_table(
        "probe_nodes",
        sa.Column("probe_id", sa.Uuid(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("targets", JsonValue, nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("exit_code", sa.BigInteger(), nullable=True),
        sa.Column("summary", JsonValue, nullable=True),
        sa.Column("accepted_lines", sa.BigInteger(), nullable=False),
        sa.Column("archived_lines", sa.BigInteger(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["probe_id"], ["probes.id"], name="fk_probe_nodes_probe_id_probes"),
        sa.PrimaryKeyConstraint("probe_id", "node_id", name="pk_probe_nodes"),
    )
    op.create_index("ix_probe_nodes_node_id_state", "probe_nodes", ["node_id", "state"], unique=False)


def _create_probe_lines() -> None:
    op.create_table(
        "probe_lines",
        sa.Column("probe_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["probe_id"], ["probes.id"], name="fk_probe_lines_probe_id_probes"),
        sa.PrimaryKeyConstraint("probe_id", "seq", name="pk_probe_lines"),
    )
