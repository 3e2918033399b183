"""Whatever is asked over HTTP, the answer is one of ours: found, not found, or refused, and never a fault."""

import base64
import json
import re
from collections.abc import Iterator, Mapping

import pytest
from fastapi.routing import APIRoute

from registry_server.history import endpoints as history
from registry_server.lookup.endpoints import finding, identity, objects, records
from registry_server.mirror import endpoints as mirror
from registry_server.policy import endpoints as policy
from registry_server.portal import pages
from registry_server.rdap import endpoints as rdap
from registry_server.roas import endpoints as roas
from registry_server.schema import endpoints as schema
from tests.integration.registry.world import Served, served

__all__ = ["served"]
pytestmark = pytest.mark.asyncio(loop_scope="module")
ROUTERS = (records, identity, finding, history, objects, mirror, policy, rdap, roas, schema, pages)
#: As they stand in a path or behind `?…=`, already escaped.
STRANGE = (
    "%00",
    "%FF%FE",
    "%ED%A0%80",
    "%E2%80%AE",
    "..%2F..%2Fetc%2Fpasswd",
    "'%20OR%201=1%20--",
    "%25_%5C",
    "AS4294967296",
    "AS99999999999999999999",
    "AS%C2%B2",
    "-1",
    "1e999",
    "%F0%9D%9F%99",
    "0.0.0.0/0",
    "::/0",
    "::ffff:192.0.2.1/128",
    "fe80::1%25eth0",
    "172.20.0.0/33",
    "172.20.0.0/-1",
    "999.1.1.1",
    "a" * 5000,
    "%0d%0aX-Injected:%201",
    "<script>",
    "%7B%7B7*7%7D%7D",
)
_KNOWN = {"object_class": "aut-num"}
_ASKED = ("q", "origin", "match", "class", "limit", "code", "mntner")
CURSORS: tuple[object, ...] = (
    [],
    [1],
    ["a"],
    ["a", 1],
    ["a", 1, 2],
    [1, "a", 2],
    ["\x00", 1],
    ["\ud800", 1],
    [2**63, "a", 1],
    [-(2**63), "a", 2**63 - 1],
    [1.5, "a", 1],
    [True],
    ["ff" * 16, 129, 1],
    ["zz", -5, -5],
    {"a": 1},
    None,
)
CURSOR_NAMES = (
    *(base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in CURSORS),
    "%00",
    "====",
    base64.urlsafe_b64encode(b"[" * 1500).decode(),
)


def questions() -> Iterator[str]:
    """Each route with each strange word in its path, and with every other one in its query."""
    for module in ROUTERS:
        for route in module.router.routes:
            if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
                if route.param_convertors:
                    yield from (
                        _filled(route, dict.fromkeys(route.param_convertors, word)) for word in STRANGE
                    )
                known = {name: _KNOWN.get(name, "AS4242429901") for name in route.param_convertors}
                for word in STRANGE[::2]:
                    query = "&".join(f"{name}={word}" for name in _ASKED)
                    yield f"{_filled(route, known)}?{query}"
    yield from (
        f"/registry/api/v1/{asked}{word}" for word in STRANGE for asked in ("routes?origin=", "search?q=")
    )


def _filled(route: APIRoute, words: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: words[found[1]], route.path)


async def test_no_question_is_a_fault_of_ours(served: Served) -> None:
    asked = sorted(set(questions()))
    assert len(asked) > 500
    faults = [path for path in asked if (await served.client.get(path)).status_code >= 500]
    assert faults == []


@pytest.mark.parametrize(
    "path",
    [
        "/registry/api/v1/problems",
        "/registry/api/v1/syncs",
        "/registry/api/v1/objects/aut-num",
        "/registry/api/v1/schema/findings",
        "/registry/objects/aut-num",
        "/registry/api/v1/objects/mntner/FOO-MNT/references",
        "/registry/api/v1/objects/mntner/FOO-MNT/history",
        "/registry/api/v1/prefix/172.20.0.0/14?match=more-specific",
        "/registry/api/v1/search?q=foo",
        "/registry/?q=foo",
        "/registry/?q=172.20.0.0/14",
        "/registry/sync",
    ],
)
async def test_no_cursor_is_a_fault_of_ours(served: Served, path: str) -> None:
    sign = "&" if "?" in path else "?"
    for cursor in CURSOR_NAMES:
        answer = await served.client.get(f"{path}{sign}cursor={cursor}")
        assert answer.status_code < 500, cursor


@pytest.mark.parametrize(
    "name", ["If-None-Match", "Accept-Language", "Accept", "Authorization", "Cookie", "Range"]
)
async def test_no_header_is_a_fault_of_ours(served: Served, name: str) -> None:
    for value in (
        b"\xff",
        b"," * 4000,
        b'W/"',
        b"*",
        b"bytes=9999-1",
        b"Bearer rlp_" + b"a" * 4000,
        b"zh;q=nan",
    ):
        for path in ("/registry/api/v1/asn/AS4242429901", "/registry/sync", "/registry/rdap/autnum/1"):
            answer = await served.client.get(path, headers=[(name.encode(), value)])
            assert answer.status_code < 500, (path, value)
