from alembic import op

revision = "first"
down_revision = None


def upgrade() -> None:
    op.execute("CREATE TABLE first (id BIGINT PRIMARY KEY)")
