"""Wiring of clients, and the forms that they and browsers send."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.clients.errors import InvalidRequest
from auth_server.clients.repository import ClientRepository
from auth_server.clients.rules.parameters import FORM, Parameters, collect, parse_parameters
from auth_server.clients.service import ClientService
from auth_server.clients.store import FailedSecrets
from auth_server.resources import AuthResources

__all__ = ["FailedSecrets", "Form", "client_service", "read_body", "read_form", "read_page_form"]

_MOST_BYTES = 65536


def client_service(resources: AuthResources, session: AsyncSession, failures: FailedSecrets) -> ClientService:
    """Clients inside a session of the database."""
    return ClientService(ClientRepository(session), failures, resources.now)


async def read_form(request: Request) -> Parameters:
    """The form of the body. Raises InvalidRequest."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != FORM:
        raise InvalidRequest(f"Send the parameters as {FORM}.")
    if request.url.query:
        raise InvalidRequest("Parameters belong into the body, never into the address.")
    form = parse_parameters(await read_body(request))
    form.refuse_repetition()
    return form


async def read_body(request: Request) -> str:
    """The text of a body that is no longer than any honest one. Raises InvalidRequest."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise InvalidRequest("The request is too long.")
    # Whatever is not ASCII stands percent-encoded in a form.
    return body.decode("ascii", errors="replace").replace("\ufffd", "%FF")


async def read_page_form(request: Request) -> Parameters:
    """The form of one of our own pages, whose token has been checked before."""
    form = await request.form()
    return collect([(name, value) for name, value in form.multi_items() if isinstance(value, str)])


Form = Annotated[Parameters, Depends(read_form)]
