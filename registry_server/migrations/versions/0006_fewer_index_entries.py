"""No index that no question uses, and none of the objects without an AS number."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_NUMBERED = sa.text("asn IS NOT NULL")


def upgrade() -> None:
    op.drop_index("ix_object_changes_position", "object_changes")
    op.drop_index("ix_objects_asn", "objects")
    op.create_index("ix_objects_asn", "objects", ["asn"], sqlite_where=_NUMBERED, postgresql_where=_NUMBERED)


def downgrade() -> None:
    op.drop_index("ix_objects_asn", "objects")
    op.create_index("ix_objects_asn", "objects", ["asn"])
    op.create_index("ix_object_changes_position", "object_changes", ["position"])
