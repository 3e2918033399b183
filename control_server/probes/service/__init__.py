"""What we do with probes: take requests, run them, watch over them, let people read them."""

from control_server.probes.service.reading import ProbeReader
from control_server.probes.service.requests import ProbeService
from control_server.probes.service.runs import ProbeRuns
from control_server.probes.service.watch import ProbeWatch

__all__ = ["ProbeReader", "ProbeRuns", "ProbeService", "ProbeWatch"]
