"""Alembic's entry: the connection is handed in by `shared.database.migrations`."""

from auth_server.accounts import models as accounts
from auth_server.audit import models as audit
from auth_server.passkeys import models as passkeys
from auth_server.sessions import models as sessions
from auth_server.tables import Base
from shared.database.migrations import run_migrations

MODELS = (accounts, audit, passkeys, sessions)

run_migrations(Base.metadata)
