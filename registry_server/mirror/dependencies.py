"""Wiring of the mirror."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request

from registry_server.mirror.service import MirrorService
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of a list is meant."""

    cursor: Annotated[str | None, Query(max_length=256, description="`next` of the page before")] = None
    limit: Annotated[int, Query(ge=1, le=200)] = 50


def _mirror(request: Request) -> MirrorService:
    mirror: MirrorService = request.app.state.mirror
    return mirror


Page = Annotated[Paging, Depends()]
Mirror = Annotated[MirrorService, Depends(_mirror)]
Syncer = Annotated[Principal, Depends(Require(Scope.REGISTRY_SYNC))]
