"""The index of the registry, and the mirror that keeps it."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _create_objects()
    _create_attributes()
    _create_references()
    _create_routes()
    _create_problems()
    _create_mirror()


def downgrade() -> None:
    for table in (
        "syncs",
        "mirror_state",
        "problems",
        "routes",
        "object_references",
        "attributes",
        "objects",
    ):
        op.drop_table(table)


def _create_objects() -> None:
    op.create_table(
        "objects",
        sa.Column("id", _ROW_ID, autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("object_class", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("blob", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("indexed", sa.Boolean(), nullable=False),
        sa.Column("asn", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_objects"),
        sa.UniqueConstraint("path", name="uq_objects_path"),
    )
    op.create_index("ix_objects_folded_class", "objects", ["folded", "object_class"])
    op.create_index("ix_objects_asn", "objects", ["asn"])


def _create_attributes() -> None:
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


def _create_references() -> None:
    op.create_table(
        "object_references",
        sa.Column("object_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("attribute", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("line", sa.BigInteger(), nullable=False),
        sa.Column("classes", sa.Text(), nullable=False),
        sa.Column("dangling", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("object_id", "position", name="pk_object_references"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_object_references_target_attribute", "object_references", ["target", "attribute"])
    op.create_index(
        "ix_object_references_dangling",
        "object_references",
        ["dangling"],
        sqlite_where=sa.text("dangling"),
        postgresql_where=sa.text("dangling"),
    )


def _create_routes() -> None:
    op.create_table(
        "routes",
        sa.Column("object_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("origin", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("family", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.LargeBinary(), nullable=False),
        sa.Column("last", sa.LargeBinary(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("max_length", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("object_id", "origin", name="pk_routes"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_routes_origin_prefix", "routes", ["origin", "family", "first", "length"])
    op.create_index("ix_routes_range", "routes", ["family", "first", "last"])


def _create_problems() -> None:
    op.create_table(
        "problems",
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("line", sa.BigInteger(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("path", "position", name="pk_problems"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_problems_code", "problems", ["code"])


def _create_mirror() -> None:
    state = op.create_table(
        "mirror_state",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("last_sync", sa.BigInteger(), nullable=False),
        sa.Column("commit", sa.Text(), nullable=True),
        sa.Column("branch", sa.Text(), nullable=True),
        sa.Column("grammar", sa.BigInteger(), nullable=False),
        sa.Column("committed_at", UtcDateTime(), nullable=True),
        sa.Column("applied_at", UtcDateTime(), nullable=True),
        sa.Column("checked_at", UtcDateTime(), nullable=True),
        sa.Column("counts", JsonValue, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_mirror_state"),
        sa.CheckConstraint("id = 1", name="ck_mirror_state_single"),
    )
    op.bulk_insert(state, [{"id": 1, "version": 0, "last_sync": 0, "grammar": 0, "counts": {}}])
    op.create_table(
        "syncs",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=True),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("finished_at", UtcDateTime(), nullable=False),
        sa.Column("from_commit", sa.Text(), nullable=True),
        sa.Column("to_commit", sa.Text(), nullable=True),
        sa.Column("removed", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("repeats", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_syncs"),
    )
