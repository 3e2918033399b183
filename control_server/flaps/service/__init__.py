"""Scores: charged as reports come in, kept in the tier or in SQL, explained, and muted."""

from control_server.flaps.service.exports import FlapExport
from control_server.flaps.service.ingest import PrefixFlaps, SessionFlaps
from control_server.flaps.service.muting import FlapMuting
from control_server.flaps.service.reading import FlapService
from control_server.flaps.service.retention import FlapRetention
from control_server.flaps.service.watch import FlapWatch

__all__ = [
    "FlapExport",
    "FlapMuting",
    "FlapRetention",
    "FlapService",
    "FlapWatch",
    "PrefixFlaps",
    "SessionFlaps",
]
