"""A method that an address does not know is answered with all that it does know (RFC 9110, 15.5.6)."""

import re

import pytest

from tests.integration.matrix.callers import address
from tests.integration.matrix.doors import Doors
from tests.integration.matrix.routes import routes_of

pytestmark = pytest.mark.asyncio(loop_scope="package")
#: Links that act, which nothing but a GET opens.
ONLY_GET = {"/auth/authorize", "/auth/logout", "/sign-in/callback", "/session-link/{secret}"}
#: Of no route.
STRANGE = "PROPFIND"


def pattern(path: str) -> str:
    """What a route's path fits, with its places."""
    parts = re.split(r"(\{[^}]+\})", path)
    places = {part: ".*" if part.endswith(":path}") else "[^/]+" for part in parts[1::2]}
    return "".join(places.get(part) or re.escape(part) for part in parts)


def known(routes: list[str], asked: str) -> set[str]:
    """The methods of every route that the address fits."""
    found = set()
    for method, path in (route.split() for route in routes):
        if method != "WS" and re.fullmatch(pattern(path), asked):
            found |= {method, "HEAD"} if method == "GET" and path not in ONLY_GET else {method}
    return found


@pytest.mark.parametrize("service", ["control", "auth", "registry"])
async def test_every_address_names_all_its_methods(doors: Doors, service: str) -> None:
    routes = routes_of(doors.apps[service])
    paths = {address(path) for method, path in (route.split() for route in routes) if method != "WS"}
    wrong = {}
    for path in sorted(paths):
        answer = await doors.http[service].request(STRANGE, path)
        told = answer.headers.get("allow", "").split(", ")
        if answer.status_code != 405 or told != sorted(known(routes, path)):
            wrong[path] = (answer.status_code, told)
    assert wrong == {}


@pytest.mark.parametrize("path", ["/auth/authorize", "/auth/logout"])
async def test_an_address_that_refuses_a_head_names_its_other_methods(doors: Doors, path: str) -> None:
    answer = await doors.http["auth"].head(path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
