"""Peerings and links: written one version at a time, published in the same transaction."""

from control_server.peerings.service.links import Links
from control_server.peerings.service.peerings import Peerings
from control_server.peerings.service.register import PeeringRegister

__all__ = ["Links", "PeeringRegister", "Peerings"]
