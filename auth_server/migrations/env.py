"""Alembic's entry: the connection is handed in by `shared.database.migrations`."""

from auth_server.accounts import models as accounts
from auth_server.audit import models as audit
from auth_server.authorization import models as authorization
from auth_server.clients import models as clients
from auth_server.device import models as device
from auth_server.ownership import models as ownership
from auth_server.passkeys import models as passkeys
from auth_server.sessions import models as sessions
from auth_server.signing_keys import models as signing_keys
from auth_server.tables import Base
from auth_server.tokens import models as tokens
from shared.database.migrations import run_migrations

MODELS = (
    *(accounts, audit, authorization, clients, device),
    *(ownership, passkeys, sessions, signing_keys, tokens),
)

run_migrations(Base.metadata)
