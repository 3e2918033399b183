"""Wiring of previews."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.agents.dependencies import Link
from control_server.desired_state.service import PreviewService
from control_server.desired_state.store import PreviewStore
from control_server.nodes.dependencies import reading_nodes
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.runtime_state import RedisRuntimeClient
from shared.runtime_state.client import get_redis_runtime_client
from shared.web.principals import Require

_State = Annotated[RedisRuntimeClient, Depends(get_redis_runtime_client)]


def _previews(request: Request, link: Link, state: _State) -> PreviewService:
    resources: ControlResources = request.app.state.resources
    store = PreviewStore(state, resources.settings.runtime_state.preview_ttl)
    return PreviewService(lambda: reading_nodes(resources, link), store, resources.now)


Previews = Annotated[PreviewService, Depends(_previews)]
PreviewWriter = Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]
