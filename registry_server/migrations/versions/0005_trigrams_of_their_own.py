"""The trigrams of names stand on an expression, so that a whole name is looked up in the plain index."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NAME = "ix_objects_folded_trigrams"


def _replace(column: str) -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    op.drop_index(_NAME, "objects", if_exists=True)
    if connection.scalar(sa.text("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")):
        connection.exec_driver_sql(f"CREATE INDEX {_NAME} ON objects USING gin ({column} gin_trgm_ops)")


def upgrade() -> None:
    _replace("lower(folded)")


def downgrade() -> None:
    _replace("folded")
