"""Routes of RDAP (RFC 9082). Each answers HEAD as well, by which clients ask whether there is something."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from registry_server.rdap.dependencies import Rdap, RdapResponse, RdapRoute
from registry_server.rdap.schemas import Document, Search

_EXAMPLE = {
    "rdapConformance": ["rdap_level_0", "cidr0"],
    "objectClassName": "autnum",
    "handle": "AS4242429901",
    "startAutnum": 4242429901,
    "endAutnum": 4242429901,
    "name": "FOO-AS",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/rdap+json": {"example": _EXAMPLE}}},
    404: {"content": {"application/rdap+json": {}}, "description": "An RDAP error"},
}
Text = Annotated[str, Path(max_length=255)]
Sought = Annotated[str | None, Query(max_length=255, examples=["foo*"])]

router = APIRouter(
    prefix="/registry/rdap",
    tags=["rdap"],
    route_class=RdapRoute,
    default_response_class=RdapResponse,
    responses=_RESPONSES,
)


async def get_autnum(number: Text, rdap: Rdap) -> Document:
    """An AS number, with or without `AS`."""
    return await rdap.autnum(number)


async def get_network(address: Text, rdap: Rdap) -> Document:
    """The smallest network that contains an address or a prefix."""
    return await rdap.network(address)


async def get_domain(name: Text, rdap: Rdap) -> Document:
    """A domain name."""
    return await rdap.domain(name)


async def get_entity(handle: Text, rdap: Rdap) -> Document:
    """A contact or a maintainer, in any case of the handle."""
    return await rdap.entity(handle)


async def search_domains(request: Request, rdap: Rdap, name: Sought = None) -> Document:
    """Domain names that fit one with `*` for any characters."""
    return await rdap.search(Search.DOMAINS, _asked(request, name=name))


async def search_entities(request: Request, rdap: Rdap, fn: Sought = None, handle: Sought = None) -> Document:
    """Contacts and maintainers by the name that they give themselves, or by handle."""
    return await rdap.search(Search.ENTITIES, _asked(request, fn=fn, handle=handle))


async def search_networks(
    request: Request, rdap: Rdap, name: Sought = None, handle: Sought = None
) -> Document:
    """Networks by name, or by handle (RFC 9910)."""
    return await rdap.search(Search.NETWORKS, _asked(request, name=name, handle=handle))


async def search_autnums(
    request: Request, rdap: Rdap, name: Sought = None, handle: Sought = None
) -> Document:
    """AS numbers by name, or by handle (RFC 9910)."""
    return await rdap.search(Search.AUTNUMS, _asked(request, name=name, handle=handle))


def _asked(request: Request, **known: str | None) -> dict[str, str]:
    """What is asked for, with what this server does not search by."""
    return {**dict(request.query_params), **{name: text for name, text in known.items() if text is not None}}


async def get_help(rdap: Rdap) -> Document:
    """What this server is."""
    return rdap.help()


async def get_bootstrap(kind: Annotated[str, Path(max_length=20)], rdap: Rdap) -> Document:
    """Where to ask about AS numbers, addresses or names, for clients that start there (RFC 9224)."""
    return await rdap.bootstrap(kind)


async def refuse_question(question: Text, rdap: Rdap) -> Document:
    """Whatever else is asked: what is not answered here, and what is no query at all."""
    return rdap.refuse(question)


async def refuse_nothing(rdap: Rdap) -> Document:
    """The base address alone."""
    return rdap.refuse("")


for path, answer in (
    ("/autnum/{number}", get_autnum),
    ("/ip/{address:path}", get_network),
    ("/domain/{name}", get_domain),
    ("/entity/{handle:path}", get_entity),
    ("/domains", search_domains),
    ("/entities", search_entities),
    ("/ips", search_networks),
    ("/autnums", search_autnums),
    ("/help", get_help),
    ("/{kind}.json", get_bootstrap),
):
    router.add_api_route(path, answer, methods=["GET"])
    router.add_api_route(path, answer, methods=["HEAD"], include_in_schema=False)
router.add_api_route("", refuse_nothing, methods=["GET", "HEAD"], include_in_schema=False)
router.add_api_route("/{question:path}", refuse_question, methods=["GET", "HEAD"], include_in_schema=False)
