"""Wiring of policy."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from registry_server.policy.service import PolicyService
from registry_server.schema.dependencies import Schemas


def _policy(request: Request, schemas: Schemas) -> PolicyService:
    snapshots = request.app.state.resources.snapshots
    return PolicyService(lambda: snapshots.current, schemas)


Policy = Annotated[PolicyService, Depends(_policy)]
