"""Incidents: opened and closed by those who watch, and told to those who ask."""

from control_server.incidents.service.desk import IncidentDesk
from control_server.incidents.service.ledger import IncidentLedger

__all__ = ["IncidentDesk", "IncidentLedger"]
