"""Wiring of the mirror."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from registry_server.mirror.service import MirrorService
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require


def _mirror(request: Request) -> MirrorService:
    mirror: MirrorService = request.app.state.mirror
    return mirror


Mirror = Annotated[MirrorService, Depends(_mirror)]
Syncer = Annotated[Principal, Depends(Require(Scope.REGISTRY_SYNC))]
