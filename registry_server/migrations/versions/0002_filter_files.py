"""The files that say which prefixes may have a ROA."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "filter_files",
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("path", name="pk_filter_files"),
    )


def downgrade() -> None:
    op.drop_table("filter_files")
