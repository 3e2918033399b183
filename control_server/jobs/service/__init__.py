"""Running jobs, looking at them, and the upkeep that they do."""

from control_server.jobs.service.desk import JobDesk
from control_server.jobs.service.janitor import Janitor
from control_server.jobs.service.performing import Performer
from control_server.jobs.service.registry import RegistrySync
from control_server.jobs.service.retention import Retention
from control_server.jobs.service.runner import JobRunner
from control_server.jobs.service.worker import Worker

__all__ = ["Janitor", "JobDesk", "JobRunner", "Performer", "RegistrySync", "Retention", "Worker"]
