"""Who may speak for an AS number. Public: it tells what would prove it, not who did."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from registry_server.conditional.dependencies import IfChanged
from registry_server.lookup.dependencies import Identities
from shared.protocol.registry import AsnIdentities, Identity
from shared.web.problems import Problem

_RESPONSES: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it already"},
    404: {"model": Problem, "description": "`asn_unknown`, or `mntner_not_of_asn`"},
    422: {"model": Problem, "description": "Not an AS number"},
}
Asn = Annotated[str, Path(max_length=20, examples=["AS4242429901", "4242429901"])]
Name = Annotated[str, Path(max_length=255, examples=["FOO-MNT"])]

router = APIRouter(prefix="/registry/api/v1/identity", tags=["identity"])


@router.get("/{asn}", response_model=AsnIdentities, responses=_RESPONSES)
async def list_identities(asn: Asn, identities: Identities, if_changed: IfChanged) -> Response:
    """Every maintainer who may speak for an AS number, with the ways to prove it."""
    return if_changed.answer(await identities.of_asn(asn))


@router.get("/{asn}/{mntner}", response_model=Identity, responses=_RESPONSES)
async def get_identity(asn: Asn, mntner: Name, identities: Identities, if_changed: IfChanged) -> Response:
    """What this maintainer may claim of the AS number once they have proved who they are."""
    return if_changed.answer(await identities.get(asn, mntner))
