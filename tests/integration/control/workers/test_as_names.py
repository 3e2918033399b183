"""The registry's name of a node's AS: asked for once an hour over HTTP, and never in the way of a page."""

import httpx2
import pytest

from control_server.keys import AS_NAME
from control_server.nodes.store import AsNames
from shared.testing.servers import KeyValueServer
from tests.integration.control.workers.pair import Pair

KNOWN = 4242429901


class Registry:
    """Answers as the registry service does."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = 200

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request.url.path)
        if self.status != 200:
            return httpx2.Response(self.status)
        if request.url.path.endswith(f"/{KNOWN}"):
            return httpx2.Response(200, json={"as_name": "FOO-AS"})
        return httpx2.Response(404, json={"code": "asn_unknown"})


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
def names(pair: Pair, registry: Registry) -> AsNames:
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(registry))
    return AsNames(pair.a.resources.cache, http, "http://registry.example")


async def test_is_asked_for_once(names: AsNames, registry: Registry, pair: Pair) -> None:
    assert [await names.name_of(f"AS{KNOWN}") for _ in range(3)] == ["FOO-AS"] * 3
    assert len(registry.asked) == 1
    survey = await pair.b.resources.cache.survey(AS_NAME)
    assert (survey.count, survey.without_ttl) == (1, 0)


async def test_an_as_without_a_name_is_remembered_too(names: AsNames, registry: Registry) -> None:
    assert [await names.name_of("4242429902") for _ in range(3)] == [None] * 3
    assert len(registry.asked) == 1


async def test_a_registry_that_fails_is_in_nobody_s_way(names: AsNames, registry: Registry) -> None:
    registry.status = 503
    assert await names.name_of(str(KNOWN)) is None


async def test_without_the_cache_the_registry_answers(
    names: AsNames, registry: Registry, cache: KeyValueServer
) -> None:
    cache.stop()
    assert await names.name_of(str(KNOWN)) == "FOO-AS"


@pytest.mark.parametrize("label", ["", "AS", "AS0", "4294967296", "AS12x", "²"])
async def test_what_is_no_as_number_is_not_asked_for(names: AsNames, registry: Registry, label: str) -> None:
    assert await names.name_of(label) is None
    assert not registry.asked
