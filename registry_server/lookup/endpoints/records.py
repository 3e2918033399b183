"""What the registry says of an AS number, a maintainer or an origin."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from registry_server.conditional.dependencies import IfChanged
from registry_server.lookup.dependencies import Lookups
from registry_server.lookup.schemas import AsnRecord, MntnerRecord, RoutesRecord
from shared.web.problems import Problem

_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The client has it already"}}
_MISSING: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "Not in the registry"}}
_INVALID: dict[int | str, dict[str, Any]] = {422: {"model": Problem, "description": "Not an AS number"}}
Asn = Annotated[str, Path(max_length=20, examples=["AS4242429901", "4242429901"])]
Name = Annotated[str, Path(max_length=255, examples=["FOO-MNT"])]
Origin = Annotated[str, Query(max_length=20, examples=["AS4242429901"])]

router = APIRouter(prefix="/registry/api/v1", tags=["lookup"])


@router.get("/asn/{asn}", response_model=AsnRecord, responses={**_NOT_MODIFIED, **_MISSING, **_INVALID})
async def get_asn(asn: Asn, lookups: Lookups, if_changed: IfChanged) -> Response:
    """What the registry says of an AS number."""
    return if_changed.answer(await lookups.asn(asn))


@router.get("/mntner/{name}", response_model=MntnerRecord, responses={**_NOT_MODIFIED, **_MISSING})
async def get_mntner(name: Name, lookups: Lookups, if_changed: IfChanged) -> Response:
    """A maintainer, how they prove who they are, and their AS numbers."""
    return if_changed.answer(await lookups.mntner(name))


@router.get("/routes", response_model=RoutesRecord, responses={**_NOT_MODIFIED, **_INVALID})
async def list_routes(origin: Origin, lookups: Lookups, if_changed: IfChanged) -> Response:
    """The prefixes that an AS may originate."""
    return if_changed.answer(await lookups.routes(origin))
