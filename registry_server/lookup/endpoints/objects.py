"""Objects: listed, shown, linked, byte for byte, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from registry_server.conditional.dependencies import IfChanged
from registry_server.lookup.dependencies import Catalogue, Key, LinkPage, ObjectClass, Page
from registry_server.lookup.schemas import BacklinkPage, ObjectPage, ObjectRead, ProblemPage
from registry_server.objects.schemas import ProblemCode, Severity
from shared.web.problems import Problem

_RESPONSES: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it already"},
    404: {"model": Problem, "description": "No such class or object"},
}
_TEXT: dict[int | str, dict[str, Any]] = {
    **_RESPONSES,
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "The text"},
}

router = APIRouter(prefix="/registry/api/v1", tags=["objects"])


@router.get("/problems", response_model=ProblemPage, responses={304: _RESPONSES[304]})
async def list_problems(
    catalogue: Catalogue,
    page: Page,
    if_changed: IfChanged,
    code: ProblemCode | None = None,
    severity: Severity | None = None,
) -> Response:
    """What is wrong with files of the registry, by path and line."""
    return if_changed.answer(await catalogue.problems(code, severity, page.cursor, page.limit))


@router.get("/objects/{object_class}", response_model=ObjectPage, responses=_RESPONSES)
async def list_objects(
    object_class: ObjectClass,
    catalogue: Catalogue,
    page: Page,
    if_changed: IfChanged,
) -> Response:
    """Objects of one class, by key."""
    return if_changed.answer(await catalogue.list_class(object_class, page.cursor, page.limit))


@router.get("/objects/{object_class}/{key:path}/raw", response_class=Response, responses=_TEXT)
async def get_raw(
    object_class: ObjectClass, key: Key, catalogue: Catalogue, if_changed: IfChanged
) -> Response:
    """The object's text byte for byte, as plain text whatever it holds."""
    found = await catalogue.find(object_class, key)
    return if_changed.text(found.raw, found.blob)


@router.get(
    "/objects/{object_class}/{key:path}/references", response_model=BacklinkPage, responses=_RESPONSES
)
async def list_backlinks(
    object_class: ObjectClass, key: Key, catalogue: Catalogue, page: LinkPage, if_changed: IfChanged
) -> Response:
    """Objects that name this one, by attribute."""
    found = await catalogue.find(object_class, key)
    return if_changed.answer(await catalogue.backlinks(found, page.attribute, page.cursor, page.limit))


@router.get("/objects/{object_class}/{key:path}", response_model=ObjectRead, responses=_RESPONSES)
async def get_object(
    object_class: ObjectClass, key: Key, catalogue: Catalogue, if_changed: IfChanged
) -> Response:
    """One object by its key or its file name, in any case."""
    return if_changed.answer(await catalogue.get(object_class, key))
