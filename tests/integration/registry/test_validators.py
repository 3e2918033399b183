"""Every answer of the registry that does not change by the minute has a validator, and honours it."""

from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute

from registry_server.history import endpoints as history
from registry_server.lookup.endpoints import finding, identity, objects, records
from registry_server.mirror import endpoints as mirror
from registry_server.policy import endpoints as policy
from registry_server.rdap import endpoints as rdap
from registry_server.roas import endpoints as roas
from registry_server.schema import endpoints as schema
from tests.integration.registry.world import Served, served

__all__ = ["served"]
pytestmark = pytest.mark.asyncio(loop_scope="module")
ROUTERS = (finding, history, identity, mirror, objects, policy, rdap, records, roas, schema)
#: Their validators are weak: something in them changes as time goes by.
WEAK = {"/registry/api/v1/status"}
#: A good question for each route that needs one.
ASKED = {
    "/registry/api/v1/asn/{asn}": "/registry/api/v1/asn/AS4242429901",
    "/registry/api/v1/mntner/{name}": "/registry/api/v1/mntner/FOO-MNT",
    "/registry/api/v1/routes": "/registry/api/v1/routes?origin=AS4242429901",
    "/registry/api/v1/identity/{asn}": "/registry/api/v1/identity/AS4242429901",
    "/registry/api/v1/identity/{asn}/{mntner}": "/registry/api/v1/identity/AS4242429901/FOO-MNT",
    "/registry/api/v1/prefix/{prefix:path}": "/registry/api/v1/prefix/172.20.0.0/24",
    "/registry/api/v1/search": "/registry/api/v1/search?q=foo",
    "/registry/api/v1/connection": (
        "/registry/api/v1/connection?from_class=aut-num&from_key=AS4242429901&to_class=mntner&to_key=FOO-MNT"
    ),
    "/registry/api/v1/as-set/{name}": "/registry/api/v1/as-set/AS-FOO",
    "/registry/api/v1/objects/{object_class}": "/registry/api/v1/objects/aut-num",
    "/registry/api/v1/schema/{object_class}": "/registry/api/v1/schema/aut-num",
    "/registry/rdap/autnum/{number}": "/registry/rdap/autnum/4242429901",
    "/registry/rdap/ip/{address:path}": "/registry/rdap/ip/172.20.0.1",
    "/registry/rdap/domain/{name}": "",
    "/registry/rdap/entity/{handle:path}": "/registry/rdap/entity/FOO-MNT",
    "/registry/rdap/{kind}.json": "/registry/rdap/asn.json",
    "/registry/rdap/entities": "/registry/rdap/entities?handle=FOO*",
    "/registry/rdap/ips": "/registry/rdap/ips?handle=172.20*",
    "/registry/rdap/autnums": "/registry/rdap/autnums?handle=AS42424299*",
    "/registry/rdap/domains": "",
    # Never answers but by a refusal.
    "/registry/rdap": "",
    "/registry/rdap/{question:path}": "",
}
OBJECT = "/registry/api/v1/objects/aut-num/AS4242429901"


def questions(commit: str) -> Iterator[str]:
    for module in ROUTERS:
        for route in module.router.routes:
            if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
                path = ASKED.get(route.path, route.path)
                path = path.replace("{object_class}/{key:path}", "aut-num/AS4242429901")
                if path:
                    yield path.replace("{commit}", commit)


async def test_who_has_an_answer_is_not_sent_it_again(served: Served) -> None:
    changes = (await served.client.get(f"{OBJECT}/history")).json()["items"]
    paths = sorted(set(questions(changes[0]["commit"])))
    assert len(paths) > 25
    for path in paths:
        first = await served.client.get(path)
        assert first.status_code == 200, (path, first.text)
        tag = first.headers["etag"]
        assert tag.startswith("W/") is (path in WEAK), path
        strong = tag.removeprefix("W/")
        assert (strong[0], strong[-1]) == ('"', '"'), path
        for known in (tag, f"W/{strong}", f'"other", {tag}', "*"):
            again = await served.client.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag), path
        other = await served.client.get(path, headers={"If-None-Match": '"other"'})
        assert other.status_code == 200, path
        head = await served.client.head(path)
        assert (head.status_code, head.content, head.headers.get("etag")) == (200, b"", tag), path


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("asn/AS1", "/registry/api/v1/policy/aut-num/AS1"),
        ("identity/AS1", "/registry/api/v1/policy/aut-num/AS1"),
        ("identity/AS4242429901/NOBODY-MNT", "/registry/api/v1/identity/"),
        ("mntner/NOBODY-MNT", "/registry/api/v1/search?"),
        ("as-set/AS-NONE", "/registry/api/v1/search?"),
        ("objects/aut-num/AS1", "/registry/api/v1/search?"),
        ("objects/nope", "/registry/api/v1/schema"),
        ("objects/aut-num/AS1/history", "class and spelling"),
        ("objects/aut-num/AS4242429901/history/0000000", "its history lists"),
    ],
)
async def test_what_is_not_there_is_told_with_what_to_do(served: Served, path: str, remedy: str) -> None:
    answer = await served.client.get(f"/registry/api/v1/{path}")
    assert answer.status_code == 404
    assert remedy in answer.json()["detail"]
