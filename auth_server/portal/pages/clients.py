"""The administration of the applications that may send people here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from auth_server.accounts.dependencies import Administrator
from auth_server.clients.dependencies import Clients
from auth_server.clients.endpoints import as_read
from auth_server.clients.models import Client
from auth_server.clients.schemas import ALL_SCOPES, ClientChange, ClientCreate, GrantType
from auth_server.portal.dependencies import FreshAdministrator
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again, field_messages, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render

router = APIRouter(prefix="/auth/clients", include_in_schema=False)

_PEOPLE = [GrantType.AUTHORIZATION_CODE, GrantType.REFRESH_TOKEN]
#: What each kind of application is registered with.
_KINDS: dict[str, dict[str, Any]] = {
    "web": {"grant_types": _PEOPLE},
    "program": {"grant_types": [*_PEOPLE, GrantType.DEVICE_CODE], "confidential": False, "native": True},
    "service": {"grant_types": [GrantType.CLIENT_CREDENTIALS]},
}
_LISTS = ("redirect_uris", "post_logout_redirect_uris", "origins")


class ClientForm(BaseModel):
    """The fields as typed; they are judged afterwards, so that nothing typed is lost."""

    client_id: str = ""
    name: str = ""
    kind: str = "web"
    redirect_uris: str = ""
    post_logout_redirect_uris: str = ""
    origins: str = ""
    backchannel_logout_uri: str = ""
    scopes: list[str] = Field(default=[])
    role: str = ""
    requires_pushed: str = ""
    requires_dpop: str = ""

    def values(self) -> dict[str, Any]:
        """What a registration is made of: one address a line."""
        return {
            "name": self.name.strip(),
            **{name: getattr(self, name).split() for name in _LISTS},
            "backchannel_logout_uri": self.backchannel_logout_uri.strip() or None,
            "scopes": self.scopes,
            "role": self.role or None,
            "requires_pushed": bool(self.requires_pushed),
            "requires_dpop": bool(self.requires_dpop),
        }


TypedClient = Annotated[ClientForm, Form()]


@router.get("")
async def show_clients(request: Request, _administrator: Administrator, clients: Clients) -> Response:
    """Every application."""
    return render(request, "portal/clients.html", clients=[as_read(each) for each in await clients.list()])


@router.get("/new")
async def show_form(request: Request, _administrator: Administrator) -> Response:
    """A new application."""
    return _form(request, ClientForm(scopes=["openid", "profile"]).model_dump(), None)


@router.post("/new")
async def create_client(
    request: Request,
    administrator: FreshAdministrator,
    clients: Clients,
    typed: TypedClient,
) -> Response:
    """Register it, and show its secret on this one page."""
    with drawn_again(lambda refusal: _form(request, typed.model_dump(), refusal)):
        kind = _KINDS.get(typed.kind, _KINDS["web"])
        values = {**typed.values(), **kind, "client_id": typed.client_id.strip()}
        client, secret = await clients.create(administrator, parse(ClientCreate, values))
    return _client(request, client, secret=secret)


@router.get("/{client_id:path}")
async def show_client(
    request: Request, client_id: str, _administrator: Administrator, clients: Clients
) -> Response:
    """One application."""
    return _client(request, await clients.get(client_id))


@router.post("/{client_id:path}/secret")
async def renew_secret(
    request: Request, client_id: str, administrator: FreshAdministrator, clients: Clients
) -> Response:
    """A fresh secret on this one page."""
    client = await clients.get(client_id)
    with drawn_again(lambda refusal: _client(request, client, refusal=refusal)):
        secret = await clients.renew_secret(administrator, client_id)
    return _client(request, client, secret=secret)


@router.post("/{client_id:path}/enabled")
async def allow_client(
    request: Request,
    client_id: str,
    administrator: FreshAdministrator,
    clients: Clients,
    enabled: Annotated[bool, Form()],
) -> Response:
    """Shut it out with everything that it was given, or let it in again."""
    client = await clients.get(client_id)
    with drawn_again(lambda refusal: _client(request, client, refusal=refusal)):
        await clients.change(administrator, client_id, ClientChange(enabled=enabled))
    return _back_to(client_id)


@router.post("/{client_id:path}")
async def change_client(
    request: Request,
    client_id: str,
    administrator: FreshAdministrator,
    clients: Clients,
    typed: TypedClient,
) -> Response:
    """Change its registration."""
    client = await clients.get(client_id)
    with drawn_again(lambda refusal: _client(request, client, refusal=refusal, typed=typed.model_dump())):
        await clients.change(administrator, client_id, parse(ClientChange, typed.values()))
    return _back_to(client_id)


def _back_to(client_id: str) -> Response:
    return RedirectResponse(f"/auth/clients/{quote(client_id, safe='')}", status_code=303)


def _form(request: Request, typed: Mapping[str, Any], refusal: AppError | None) -> Response:
    return render(
        request,
        "portal/client_new.html",
        status_code=STATUS_OF_KIND[refusal.kind] if refusal else 200,
        typed=typed,
        scopes=ALL_SCOPES,
        errors=field_messages(refusal),
        refused=refusal.code if refusal else "",
    )


def _client(
    request: Request,
    client: Client,
    *,
    secret: str | None = None,
    refusal: AppError | None = None,
    typed: Mapping[str, Any] | None = None,
) -> Response:
    shown = as_read(client)
    lists = {name: "\n".join(getattr(shown, name)) for name in _LISTS}
    return render(
        request,
        "portal/client.html",
        status_code=STATUS_OF_KIND[refusal.kind] if refusal else 200,
        client=shown,
        secret=secret,
        typed=typed or {**shown.model_dump(), **lists},
        scopes=ALL_SCOPES,
        errors=field_messages(refusal),
        refused=refusal.code if refusal else "",
    )
