"""Judging changes: between two states of files, and of what the registry says now."""

from registry_server.policy.service.questions import PolicyService
from registry_server.policy.service.trees import find_objections

__all__ = ["PolicyService", "find_objections"]
