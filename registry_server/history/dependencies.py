"""Wiring of history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request

from registry_server.history.repository import HistoryRepository
from registry_server.history.service import HistoryService
from shared.web.transactions import Session


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of the changes is meant."""

    cursor: Annotated[str | None, Query(max_length=256, description="`next` of the page before")] = None
    limit: Annotated[int, Query(ge=1, le=200)] = 50


def _history(request: Request, session: Session) -> HistoryService:
    return HistoryService(HistoryRepository(session), request.app.state.resources.upstream)


Page = Annotated[Paging, Depends()]
History = Annotated[HistoryService, Depends(_history)]
