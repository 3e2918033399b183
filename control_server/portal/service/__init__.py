"""What pages that join features need to know: the fleet, a node, whether anything has changed, the tiers."""

from control_server.portal.service.dashboard import Dashboard, DashboardService, LatestProbes
from control_server.portal.service.nodes import NodeMeasures, NodeTabs
from control_server.portal.service.pulse import FleetPulse
from control_server.portal.service.tiers import TierService

__all__ = [
    "Dashboard",
    "DashboardService",
    "FleetPulse",
    "LatestProbes",
    "NodeMeasures",
    "NodeTabs",
    "TierService",
]
