"""Alembic's entry: the connection is handed in by `shared.database.migrations`."""

from control_server.agents import models as agents
from control_server.api_tokens import models as api_tokens
from control_server.audit import models as audit
from control_server.enrolment import models as enrolment
from control_server.nodes import models as nodes
from control_server.operators import models as operators
from control_server.probes import models as probes
from control_server.tables import Base
from shared.database.migrations import run_migrations

MODELS = (agents, api_tokens, audit, enrolment, nodes, operators, probes)

run_migrations(Base.metadata)
