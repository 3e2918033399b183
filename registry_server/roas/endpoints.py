"""The files that validators and routers fetch. What a registry says is public."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from registry_server.conditional.dependencies import IfChanged
from registry_server.roas.dependencies import IfNewer, Roas
from registry_server.roas.schemas import RoaFormat, RoaProblemList, RoaProblemRead, RoaStatus
from registry_server.roas.service.reading import status_of
from shared.web.problems import Problem

_RESPONSES: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it already"},
    503: {"model": Problem, "description": "No sync yet, or none that went well for too long"},
}
_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}}

router = APIRouter(prefix="/registry", tags=["roas"])


@router.head("/roa.json", include_in_schema=False)
@router.get("/roa.json", response_class=Response, responses=_RESPONSES)
async def get_roa_json(roas: Roas, if_newer: IfNewer) -> Response:
    """All ROAs with metadata, as RPKI validators such as stayrtr read them."""
    return if_newer.answer(roas.export(RoaFormat.JSON))


@router.head("/roa/bird4.conf", include_in_schema=False)
@router.get("/roa/bird4.conf", response_class=Response, responses={**_TEXT, **_RESPONSES})
async def get_roa_bird4(roas: Roas, if_newer: IfNewer) -> Response:
    """The IPv4 ROAs, to be included in a `protocol static` of BIRD 2."""
    return if_newer.answer(roas.export(RoaFormat.BIRD4))


@router.head("/roa/bird6.conf", include_in_schema=False)
@router.get("/roa/bird6.conf", response_class=Response, responses={**_TEXT, **_RESPONSES})
async def get_roa_bird6(roas: Roas, if_newer: IfNewer) -> Response:
    """The IPv6 ROAs, to be included in a `protocol static` of BIRD 2."""
    return if_newer.answer(roas.export(RoaFormat.BIRD6))


@router.head("/roa/openbgpd.conf", include_in_schema=False)
@router.get("/roa/openbgpd.conf", response_class=Response, responses={**_TEXT, **_RESPONSES})
async def get_roa_openbgpd(roas: Roas, if_newer: IfNewer) -> Response:
    """All ROAs as a `roa-set` of OpenBGPD."""
    return if_newer.answer(roas.export(RoaFormat.OPENBGPD))


@router.get("/api/v1/roas", response_model=RoaStatus, responses=_RESPONSES)
async def get_roa_status(roas: Roas, if_changed: IfChanged) -> Response:
    """How many ROAs there are, and how fresh they are."""
    return if_changed.answer(status_of(roas))


@router.get("/api/v1/roas/problems", response_model=RoaProblemList, responses=_RESPONSES)
async def list_roa_problems(roas: Roas, if_changed: IfChanged) -> Response:
    """Why routes have no ROA, or another than they ask for."""
    found = [RoaProblemRead.model_validate(each._asdict()) for each in roas.current().problems]
    return if_changed.answer(RoaProblemList(found))
