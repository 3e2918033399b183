"""What objects of each class are made of, by the registry's own schema objects, and which break it.

Public, as the registry is.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from registry_server.conditional.dependencies import IfChanged
from registry_server.lookup.dependencies import ObjectClass, Page
from registry_server.schema.dependencies import Schemas
from registry_server.schema.schemas import ClassSchema, FindingPage, SchemaList
from shared.web.problems import Problem

_RESPONSES: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it already"},
    503: {"model": Problem, "description": "The registry was not read yet"},
}
_MISSING: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "No such class"}}

router = APIRouter(prefix="/registry/api/v1/schema", tags=["schema"], responses=_RESPONSES)


@router.get("", response_model=SchemaList)
async def list_schemas(schemas: Schemas, if_changed: IfChanged) -> Response:
    """Every class, as the registry's schema objects describe it."""
    return if_changed.answer(schemas.list_classes())


@router.get("/findings", response_model=FindingPage, responses=_MISSING)
async def list_findings(
    schemas: Schemas,
    page: Page,
    if_changed: IfChanged,
    object_class: Annotated[str | None, Query(alias="class", max_length=40)] = None,
) -> Response:
    """What objects have against the schema of their class, by class and key."""
    return if_changed.answer(await schemas.findings(object_class, page.cursor, page.limit))


@router.get("/{object_class}", response_model=ClassSchema, responses=_MISSING)
async def get_schema(object_class: ObjectClass, schemas: Schemas, if_changed: IfChanged) -> Response:
    """One class: its attributes, which of them must be there, and what their words name."""
    return if_changed.answer(schemas.get(object_class))
