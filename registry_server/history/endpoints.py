"""The life of objects: who changed what and when. Also of objects that are gone."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from registry_server.history.dependencies import History
from registry_server.history.rules.places import path_of
from registry_server.history.schemas import ChangeDetail, HistoryPage
from shared.web.problems import Problem

_MISSING: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "No such object or change, as far as the history goes back"},
    503: {"model": Problem, "description": "The text of that time is not at hand now"},
}
ObjectClass = Annotated[str, Path(max_length=40, examples=["aut-num"])]
Key = Annotated[str, Path(max_length=512, examples=["AS4242429901", "172.20.0.0/24"])]
Commit = Annotated[str, Path(pattern="^[0-9a-fA-F]{7,40}$")]

router = APIRouter(prefix="/registry/api/v1/objects", tags=["history"], responses=_MISSING)


@router.get("/{object_class}/{key:path}/history")
async def list_changes(
    object_class: ObjectClass,
    key: Key,
    history: History,
    cursor: Annotated[str | None, Query(max_length=256)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> HistoryPage:
    """Every change of the object, newest first."""
    return await history.page(path_of(object_class, key), cursor, limit)


@router.get("/{object_class}/{key:path}/history/{commit}")
async def get_change(object_class: ObjectClass, key: Key, commit: Commit, history: History) -> ChangeDetail:
    """What one commit did to the object: its text afterwards, and the difference."""
    return await history.change(path_of(object_class, key), commit)
