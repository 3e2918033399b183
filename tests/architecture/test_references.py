"""Generated pages are fresh, and every route that writes has somebody in front of it."""

from collections.abc import Iterator

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from control_server.agents.dependencies import _agent_node
from routeloom.reference.interfaces import applications
from routeloom.reference.pages import DIRECTORY, generated
from shared.web.principals import Require

#: Writes that nobody needs to be known for, each with the reason.
PUBLIC = {
    ("POST", "/preferences"),  # theme and language of this browser
    ("POST", "/auth/preferences"),
    ("POST", "/registry/preferences"),
    ("POST", "/registry/api/v1/policy"),  # asks what the public rules say, and changes nothing
    ("POST", "/sign-out"),  # ends whatever session the cookie names
    ("POST", "/auth/token"),  # the client and what it exchanges are in the body
    ("POST", "/auth/par"),
    ("POST", "/auth/device"),
    ("POST", "/auth/revoke"),
    ("POST", "/auth/introspect"),
    ("POST", "/auth/standing"),
    ("POST", "/auth/userinfo"),  # the access token is in the body
    ("POST", "/auth/authorize"),  # another site's form; whoever is not signed in does so first
    ("POST", "/auth/logout"),  # another site's form; asks before it ends anything
    ("POST", "/api/v1/agent/enrol"),  # the token and the proof are in the body
    ("POST", "/api/v1/agent/enrol/challenges"),  # a nonce, bounded in number
}


def calls(dependant: Dependant) -> Iterator[object]:
    yield dependant.call
    for below in dependant.dependencies:
        yield from calls(below)


def guarded(route: APIRoute) -> bool:
    return any(isinstance(call, Require) or call is _agent_node for call in calls(route.dependant))


@pytest.mark.parametrize("name", ["control", "auth", "registry"])
def test_every_route_that_writes_has_a_principal_or_stands_on_the_public_list(name: str) -> None:
    app = applications()[name]
    unguarded = {
        (method, route.path)
        for route in app.routes
        if isinstance(route, APIRoute)
        for method in (route.methods or set()) - {"GET", "HEAD", "OPTIONS"}
        if not guarded(route)
    }
    assert unguarded <= PUBLIC


def test_the_generated_reference_is_fresh() -> None:
    stale = [
        name
        for name, text in generated().items()
        if not (DIRECTORY / name).exists() or (DIRECTORY / name).read_text() != text
    ]
    assert not stale, "run `make docs`"
