"""Channels, incidents, and deliveries."""

from control_server.alerts.service.channels import AlertDesk
from control_server.alerts.service.deliveries import Deliveries, Outbox
from control_server.alerts.service.incidents import IncidentWatch
from control_server.alerts.service.webhooks import Webhooks

__all__ = ["AlertDesk", "Deliveries", "IncidentWatch", "Outbox", "Webhooks"]
