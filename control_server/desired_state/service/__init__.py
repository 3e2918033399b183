"""Desired states: previews of bundles, publishing, and the history of generations."""

from control_server.desired_state.service.generations import Generations, load_published
from control_server.desired_state.service.previews import PreviewService
from control_server.desired_state.service.publishing import BoundPublisher, Doorbell
from control_server.desired_state.service.pulling import Pulling
from control_server.desired_state.service.showing import PlanShow

__all__ = [
    "BoundPublisher",
    "Doorbell",
    "Generations",
    "PlanShow",
    "PreviewService",
    "Pulling",
    "load_published",
]
