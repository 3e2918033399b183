"""What follows from a peering without asking anybody."""

from control_server.peerings.rules.documents import checked, interface_of, merged, sealed, usual_port
from control_server.peerings.rules.ends import check_ends, check_routes, of_kind

__all__ = [
    "check_ends",
    "check_routes",
    "checked",
    "interface_of",
    "merged",
    "of_kind",
    "sealed",
    "usual_port",
]
