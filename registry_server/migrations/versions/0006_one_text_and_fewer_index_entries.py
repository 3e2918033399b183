"""Searches find a key where they find all else; no index that no question uses."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_NUMBERED = sa.text("asn IS NOT NULL")
_TRIGRAMS = "ix_objects_folded_trigrams"
_TAKE_KEYS_IN = """
    UPDATE object_texts SET body = (
        SELECT lower(folded) FROM objects WHERE objects.id = object_texts.object_id
    ) || CASE WHEN body = '' THEN '' ELSE {line_feed} || body END
"""
#: Objects with an error had no text.
_ADD_KEYS = """
    INSERT INTO object_texts (object_id, title, body) SELECT id, '', lower(folded) FROM objects
    WHERE NOT EXISTS (SELECT 1 FROM object_texts WHERE object_texts.object_id = objects.id)
"""
_REMOVE_KEYS = "DELETE FROM object_texts WHERE object_id IN (SELECT id FROM objects WHERE NOT indexed)"
_TAKE_KEYS_OUT = """
    UPDATE object_texts SET body = substr(body, length((
        SELECT folded FROM objects WHERE objects.id = object_texts.object_id
    )) + 2)
"""


def upgrade() -> None:
    connection = op.get_bind()
    on_postgres = connection.dialect.name == "postgresql"
    connection.exec_driver_sql(_TAKE_KEYS_IN.format(line_feed="chr(10)" if on_postgres else "char(10)"))
    connection.exec_driver_sql(_ADD_KEYS)
    if on_postgres:
        op.drop_index(_TRIGRAMS, "objects", if_exists=True)
    op.drop_index("ix_object_changes_position", "object_changes")
    op.drop_index("ix_objects_asn", "objects")
    op.create_index("ix_objects_asn", "objects", ["asn"], sqlite_where=_NUMBERED, postgresql_where=_NUMBERED)


def downgrade() -> None:
    connection = op.get_bind()
    op.drop_index("ix_objects_asn", "objects")
    op.create_index("ix_objects_asn", "objects", ["asn"])
    op.create_index("ix_object_changes_position", "object_changes", ["position"])
    trigrams = "SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'"
    if connection.dialect.name == "postgresql" and connection.scalar(sa.text(trigrams)):
        connection.exec_driver_sql(
            f"CREATE INDEX {_TRIGRAMS} ON objects USING gin (lower(folded) gin_trgm_ops)"
        )
    connection.exec_driver_sql(_REMOVE_KEYS)
    connection.exec_driver_sql(_TAKE_KEYS_OUT)
