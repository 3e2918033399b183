"""Alembic's entry: the connection is handed in by `shared.database.migrations`."""

from control_server.agents import models as agents
from control_server.alerts import models as alerts
from control_server.api_tokens import models as api_tokens
from control_server.audit import models as audit
from control_server.desired_state import models as desired_state
from control_server.durable import TABLES
from control_server.enrolment import models as enrolment
from control_server.flaps import models as flaps
from control_server.health import models as health
from control_server.incidents import models as incidents
from control_server.ipam import models as ipam
from control_server.jobs import models as jobs
from control_server.neighbours import models as neighbours
from control_server.nodes import models as nodes
from control_server.observations import models as observations
from control_server.operators import models as operators
from control_server.peerings import models as peerings
from control_server.policy import models as policy
from control_server.probes import models as probes
from control_server.routing import models as routing
from control_server.tables import Base
from control_server.traffic import models as traffic
from shared.database.migrations import run_migrations

MODELS = (
    *(agents, alerts, api_tokens, audit, desired_state, enrolment, ipam, jobs, neighbours, nodes),
    *(observations, operators, peerings, policy, probes, routing, traffic, TABLES),
    *(flaps, health, incidents),
)

run_migrations(Base.metadata)
