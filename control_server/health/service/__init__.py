"""How nodes are: kept as reports come in, judged when it is asked, watched for changes."""

from control_server.health.service.reading import HealthService
from control_server.health.service.recording import HealthRecorder
from control_server.health.service.retention import HealthRetention
from control_server.health.service.views import Views
from control_server.health.service.watch import HealthWatch

__all__ = ["HealthRecorder", "HealthRetention", "HealthService", "HealthWatch", "Views"]
