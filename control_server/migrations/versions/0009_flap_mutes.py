"""Mutes of what flaps, and the incidents that they keep quiet."""

import sqlalchemy as sa
from alembic import op

from shared.database import UtcDateTime

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "flap_mutes",
        sa.Column("node_id", sa.Text(), sa.ForeignKey("nodes.id"), nullable=False, primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False, primary_key=True),
        sa.Column("subject", sa.Text(), nullable=False, primary_key=True),
        sa.Column("muted_by", sa.Text(), nullable=False),
        sa.Column("muted_at", UtcDateTime(), nullable=False),
    )
    op.add_column("fleet_incidents", sa.Column("muted_at", UtcDateTime(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("fleet_incidents") as incidents:
        incidents.drop_column("muted_at")
    op.drop_table("flap_mutes")
