"""What pages that join features need to know: whether the fleet has changed, and how the tiers do."""

from control_server.portal.service.pulse import FleetPulse
from control_server.portal.service.tiers import TierService

__all__ = ["FleetPulse", "TierService"]
