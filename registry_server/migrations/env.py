"""Alembic's entry: the connection is handed in by `shared.database.migrations`."""

from registry_server.history import models as history
from registry_server.mirror import models as mirror
from registry_server.objects import models as objects
from registry_server.tables import Base
from shared.database.migrations import run_migrations

MODELS = (history, mirror, objects)

run_migrations(Base.metadata)
