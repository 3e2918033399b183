"""Address blocks, searched texts and the history of objects; attributes are read from the text itself."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.drop_table("attributes")
    _create_derived()
    _create_history()


def downgrade() -> None:
    for table in ("object_changes", "commits", "object_texts", "networks"):
        op.drop_table(table)
    op.create_table(
        "attributes",
        sa.Column("object_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("line", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("object_id", "position", name="pk_attributes"),
        sqlite_with_rowid=False,
    )
    op.execute("UPDATE mirror_state SET grammar = 0")


def _create_derived() -> None:
    op.create_table(
        "networks",
        sa.Column("object_id", _ROW_ID, autoincrement=False, nullable=False),
        sa.Column("family", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.LargeBinary(), nullable=False),
        sa.Column("last", sa.LargeBinary(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("object_id", name="pk_networks"),
    )
    op.create_index("ix_networks_range", "networks", ["family", "first", "last"])
    op.create_table(
        "object_texts",
        sa.Column("object_id", _ROW_ID, autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("object_id", name="pk_object_texts"),
    )


def _create_history() -> None:
    op.create_table(
        "commits",
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("commit", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("authored", sa.BigInteger(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("position", name="pk_commits"),
        sa.UniqueConstraint("commit", name="uq_commits_commit"),
    )
    op.create_table(
        "object_changes",
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("moved", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("path", "position", name="pk_object_changes"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_object_changes_position", "object_changes", ["position"])
