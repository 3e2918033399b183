"""Indexes of three letters each for searches, where PostgreSQL has the extension and lets us use it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_INDEXES = (
    ("ix_object_texts_body_trigrams", "object_texts", "body"),
    ("ix_objects_folded_trigrams", "objects", "folded"),
)
#: A host without the extension, or a role that may not create it, searches as before, only slower.
_EXTENSION = """
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'searches go without trigrams: %', SQLERRM;
END $$
"""


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    connection.exec_driver_sql(_EXTENSION)
    if connection.scalar(sa.text("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")):
        for name, table, column in _INDEXES:
            op.create_index(
                name, table, [column], postgresql_using="gin", postgresql_ops={column: "gin_trgm_ops"}
            )


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for name, table, _ in _INDEXES:
            op.drop_index(name, table, if_exists=True)
