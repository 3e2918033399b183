"""The life of objects: who changed what and when. Also of objects that are gone."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from registry_server.conditional.dependencies import IfChanged
from registry_server.history.dependencies import History, Page
from registry_server.history.rules.places import path_of
from registry_server.history.schemas import ChangeDetail, HistoryPage
from shared.web.problems import Problem

_MISSING: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it already"},
    404: {"model": Problem, "description": "No such object or change, as far as the history goes back"},
    503: {"model": Problem, "description": "The text of that time is not at hand now"},
}
ObjectClass = Annotated[str, Path(max_length=40, examples=["aut-num"])]
Key = Annotated[str, Path(max_length=512, examples=["AS4242429901", "172.20.0.0/24"])]
Commit = Annotated[str, Path(pattern="^[0-9a-fA-F]{7,40}$")]

router = APIRouter(prefix="/registry/api/v1/objects", tags=["history"], responses=_MISSING)


@router.get("/{object_class}/{key:path}/history", response_model=HistoryPage)
async def list_changes(
    object_class: ObjectClass,
    key: Key,
    history: History,
    page: Page,
    if_changed: IfChanged,
) -> Response:
    """Every change of the object, newest first."""
    return if_changed.answer(await history.page(path_of(object_class, key), page.cursor, page.limit))


@router.get("/{object_class}/{key:path}/history/{commit}", response_model=ChangeDetail)
async def get_change(
    object_class: ObjectClass, key: Key, commit: Commit, history: History, if_changed: IfChanged
) -> Response:
    """What one commit did to the object: its text afterwards, and the difference."""
    return if_changed.answer(await history.change(path_of(object_class, key), commit))
