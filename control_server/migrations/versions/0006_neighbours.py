"""Route objects that filters are made of, and versions of pools."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "learned_routes",
        sa.Column("source", sa.Text(), primary_key=True),
        sa.Column("routes", JsonValue, nullable=True),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("answered_at", UtcDateTime(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
    )
    with op.batch_alter_table("ipam_pools") as pools:
        pools.add_column(sa.Column("version", sa.BigInteger(), nullable=False, server_default="1"))


def downgrade() -> None:
    with op.batch_alter_table("ipam_pools") as pools:
        pools.drop_column("version")
    op.drop_table("learned_routes")
