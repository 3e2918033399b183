"""Alembic's entry: the connection is handed in by `shared.database.migrations`."""

from auth_server.tables import Base
from shared.database.migrations import run_migrations

run_migrations(Base.metadata)
