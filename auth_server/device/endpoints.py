"""Where a device begins (RFC 8628, section 3.1)."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from auth_server.clients.dependencies import Form, form_of
from auth_server.device.dependencies import PAGE, DevicesForClients
from auth_server.tokens.dependencies import LeavingClient
from auth_server.tokens.endpoints import NEVER_KEPT

#: Called by programs, which have no form token of ours.
protocol_router = APIRouter(tags=["tokens"])


@protocol_router.post(PAGE, openapi_extra=form_of(optional=["scope"]))
async def begin(form: Form, client: LeavingClient, devices: DevicesForClients) -> JSONResponse:
    """A code for the device, and one that a person confirms elsewhere."""
    return JSONResponse(await devices.begin(client, form), headers=NEVER_KEPT)
