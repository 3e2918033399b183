"""The routers that we manage: the directory of them, and their facts."""

from control_server.nodes.service.directory import NodeService
from control_server.nodes.service.facts import NodeFacts
from control_server.nodes.service.register import NodeRegister

__all__ = ["NodeFacts", "NodeRegister", "NodeService"]
