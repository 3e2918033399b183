"""Wiring of history."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from registry_server.history.repository import HistoryRepository
from registry_server.history.service import HistoryService
from shared.web.transactions import Session


def _history(request: Request, session: Session) -> HistoryService:
    return HistoryService(HistoryRepository(session), request.app.state.resources.upstream)


History = Annotated[HistoryService, Depends(_history)]
