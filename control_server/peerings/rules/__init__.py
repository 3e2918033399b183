"""What follows from a peering without asking anybody."""

from control_server.peerings.rules.documents import checked, interface_of, merged, sealed, usual_port

__all__ = ["checked", "interface_of", "merged", "sealed", "usual_port"]
