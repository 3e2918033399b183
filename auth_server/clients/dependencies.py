"""Wiring of clients, and the forms that they and browsers send."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.dependencies import AuditTrail
from auth_server.audit.service import Audit
from auth_server.clients.errors import InvalidRequest
from auth_server.clients.repository import ClientRepository, ProofRepository
from auth_server.clients.rules.parameters import FORM, Parameters, collect, parse_parameters
from auth_server.clients.service import ClientAdministration, ClientGate, ClientService
from auth_server.clients.store import FailedSecrets
from auth_server.resources import AuthResources
from shared.web.transactions import Session

__all__ = [
    "AfterClientEnd",
    "Clients",
    "FailedSecrets",
    "Form",
    "client_administration",
    "client_gate",
    "client_service",
    "form_of",
    "media_type_of",
    "read_body",
    "read_form",
    "read_page_form",
    "sent_in",
]

#: Acts inside the transaction that shuts a client out; registered in `app.py`.
AfterClientEnd = Callable[[AsyncSession, str], Awaitable[None]]

_MOST_BYTES = 65536


def client_service(resources: AuthResources, session: AsyncSession, failures: FailedSecrets) -> ClientService:
    """Clients inside a session of the database."""
    known, gate = resources.known_clients, client_gate(resources, failures)
    clients = ClientRepository(session, known.forget)
    return ClientService(clients, ProofRepository(session), gate, known, resources.now)


def client_gate(resources: AuthResources, failures: FailedSecrets) -> ClientGate:
    """What a client passes without a session of the database, once it is known."""
    return ClientGate(failures, resources.settings.issuer, resources.now)


def client_administration(
    resources: AuthResources, session: AsyncSession, audit: Audit, after_end: Sequence[AfterClientEnd] = ()
) -> ClientAdministration:
    """The administration of clients inside a session that is not a request's own."""
    clients = client_service(resources, session, FailedSecrets())
    ends = [partial(act, session) for act in after_end]
    return ClientAdministration(clients, audit, resources.now, ends)


def _administration(request: Request, session: Session, audit: AuditTrail) -> ClientAdministration:
    state = request.app.state
    return client_administration(state.resources, session, audit, state.after_client_end)


def sent_in(request: Request, header: bytes) -> list[str]:
    """What was sent in headers of this name, which is written small."""
    return [value.decode("latin-1") for name, value in request.scope["headers"] if name == header]


def media_type_of(request: Request) -> str:
    """What the body is, without parameters; case does not matter."""
    sent = sent_in(request, b"content-type")
    return sent[0].partition(";")[0].strip().lower() if sent else ""


async def read_form(request: Request) -> Parameters:
    """The form of the body. Raises InvalidRequest."""
    if media_type_of(request) != FORM:
        raise InvalidRequest(f"Send the parameters as {FORM}.")
    if request.scope["query_string"]:
        raise InvalidRequest("Parameters belong into the body, never into the address.")
    form = parse_parameters(await read_body(request))
    form.refuse_repetition()
    return form


def form_of(*required: str, optional: Sequence[str] = ()) -> dict[str, Any]:
    """What the interface's description says of a form, which is read by OAuth's own rules."""
    credentials = ("client_id", "client_secret", "client_assertion", "client_assertion_type")
    texts = {name: {"type": "string"} for name in (*required, *optional, *credentials)}
    schema = {"type": "object", "properties": texts, "required": list(required)}
    return {"requestBody": {"required": True, "content": {FORM: {"schema": schema}}}}


async def read_body(request: Request) -> str:
    """The text of a body that is no longer than any honest one. Raises InvalidRequest."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise InvalidRequest(f"The body has more than {_MOST_BYTES} bytes.")
    # Whatever is not ASCII stands percent-encoded in a form.
    return body.decode("ascii", errors="replace").replace("\ufffd", "%FF")


async def read_page_form(request: Request) -> Parameters:
    """The form of one of our own pages, whose token has been checked before."""
    form = await request.form()
    return collect([(name, value) for name, value in form.multi_items() if isinstance(value, str)])


Clients = Annotated[ClientAdministration, Depends(_administration)]
Form = Annotated[Parameters, Depends(read_form)]
