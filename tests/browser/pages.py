"""Every page of Lite by its route: a new page needs an entry here, and is looked at like the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fastapi import FastAPI

from routeloom.lite.configuration import LiteSettings
from tests.integration.matrix.routes import flat


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is opened."""

    #: What follows the path.
    query: str = ""
    #: Whether somebody is signed in; a stranger sees another page, or the only one.
    signed_in: bool = True


STRANGER = Look(signed_in=False)

PAGES: dict[str, Look] = {
    "/": Look(),
    "/access/tokens": Look(),
    "/alerts": Look(),
    "/audit": Look(),
    "/docs": Look(),
    "/enrolment": Look(),
    "/flaps": Look(),
    "/incidents": Look(),
    "/jobs": Look(),
    "/links/new": Look("?node=fra1"),
    "/links/{ident}": Look(),
    "/nodes": Look(),
    "/nodes/{node_id}": Look(),
    "/nodes/{node_id}/events": Look(),
    "/nodes/{node_id}/files": Look(),
    "/nodes/{node_id}/generations": Look(),
    "/nodes/{node_id}/generations/{number}": Look(),
    "/nodes/{node_id}/peerings": Look(),
    "/nodes/{node_id}/peerings/new": Look("?asn=AS4242429901"),
    "/nodes/{node_id}/routing": Look(),
    "/nodes/{node_id}/settings": Look(),
    "/nodes/{node_id}/traffic": Look("?range=7d"),
    "/peerings/new": Look("?asn=AS4242429901"),
    "/peerings/{ident}": Look(),
    "/policy": Look(),
    "/pools": Look(),
    "/pools/{name}": Look(),
    "/probes": Look(),
    "/probes/{probe_id}": Look(),
    "/routing": Look(),
    "/routing/origins/{asn}": Look(),
    "/routing/prefix": Look("?prefix=172.20.0.0/16"),
    "/traffic": Look(),
    "/sign-in": STRANGER,
    "/step-up": Look("?next=/enrolment"),
    "/tiers": Look(),
    "/auth/account": Look(),
    "/auth/account/passkeys/{passkey_id}": Look(),
    "/auth/account/proofs/new": Look(),
    "/auth/accounts": Look(),
    "/auth/accounts/{account_id}": Look(),
    "/auth/audit": Look(),
    "/auth/clients": Look(),
    "/auth/clients/new": Look(),
    "/auth/clients/{client_id}": Look(),
    "/auth/device": Look(),
    "/auth/device/done": Look("?answer=allowed"),
    "/auth/docs": Look(),
    "/auth/invitations/{secret}": STRANGER,
    "/auth/recovery": STRANGER,
    "/auth/sign-in": STRANGER,
    "/auth/signing-keys": Look(),
    "/auth/step-up": Look(),
    "/registry/": Look(),
    "/registry/docs": Look(),
    "/registry/objects/{object_class}": Look(),
    "/registry/objects/{object_class}/{key}": Look(),
    "/registry/roas": Look(),
    "/registry/sync": Look(),
}
#: Routes outside the interface's description that show no page of their own, or one that a path alone does
#: not reach; what reaches them is said.
NO_PAGES: dict[str, str] = {
    "/auth/": "sends to the account",
    "/auth/account/proofs/{challenge_id}": "needs a maintainer with a key; tests of ownership look at it",
    "/auth/authorize": "needs a client's request; tests of the provider look at the consent",
    "/auth/logout": "needs a client's request",
    "/fleet/stream": "a stream of events",
    "/registry/objects/{object_class}/{key}/changes/{commit}": "needs the history of the registry",
    "/registry/rdap": "is the base of RDAP's addresses, and refused in the words of RDAP",
    "/registry/rdap/{question}": "refuses what is no query of RDAP, in the words of RDAP",
    "/routing/search": "sends to the prefix or the origin that is meant",
    "/session-link/{secret}": "spends the link and sends to the dashboard",
    "/sign-in/callback": "where the sign-in service sends back to",
}
_FILES = re.compile(r"/(metrics|openapi\.json|static)\b|^/\.well-known/")
_PLACE = re.compile(r"\{(\w+)(?::path)?\}")


def page_routes(app: FastAPI) -> set[str]:
    """Paths of the routes that people open, with their places."""
    return {
        _PLACE.sub(r"{\1}", route.path)
        for route in flat(app.routes)
        if "GET" in (getattr(route, "methods", None) or ())
        and not getattr(route, "include_in_schema", True)
        and not _FILES.search(route.path)
    }


def routes_of_lite(settings: LiteSettings) -> Iterator[str]:
    """Of all three services."""
    from auth_server.app import create_app as create_auth
    from control_server.app import create_app as create_control
    from registry_server.app import create_app as create_registry

    yield from page_routes(create_control(settings.control()))
    yield from page_routes(create_auth(settings.auth()))
    yield from page_routes(create_registry(settings.registry()))


def address(path: str, places: Mapping[str, str]) -> str:
    """A page's address in the world of a test; a place may be another one on one page, under `path place`."""
    found = _PLACE.sub(lambda place: places.get(f"{path} {place[1]}") or places[place[1]], path)
    return found + PAGES[path].query
