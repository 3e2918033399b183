"""Scores: charged as reports come in, kept in the tier or in SQL, and explained."""

from control_server.flaps.service.ingest import PrefixFlaps, SessionFlaps
from control_server.flaps.service.reading import FlapService
from control_server.flaps.service.retention import FlapRetention
from control_server.flaps.service.watch import FlapWatch

__all__ = ["FlapRetention", "FlapService", "FlapWatch", "PrefixFlaps", "SessionFlaps"]
