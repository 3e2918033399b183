"""Whatever can be read of the three services is the same with a cache that is full, evicts and forgets."""

import asyncio
import contextlib
import itertools
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from shared.testing.servers import KeyValueServer, redis_server
from tests.faults.degradation.faults import tell
from tests.integration.control.workers.town import SERVICES, Town, World, build, town
from tests.integration.matrix.routes import routes_of

pytestmark = pytest.mark.timeout(240)

#: Answers that are about the tiers, the process or the moment; they are asked, and only their status counts.
ABOUT_THE_MOMENT = re.compile(
    r"(/healthz|/metrics|/metrics/runtime-state|/tiers|/docs|/openapi\.json|/static/\S*)$"
)
#: Answers without an end.
ENDLESS = {("control", "/fleet/stream")}
#: Shows how the tiers do, one of which is there in one of the two.
TIERS = {("control", "/")}
#: Asking is a deed that the audit trail keeps, so that each answer of the trail is another.
DEEDS = {("control", "/session-link/{secret}")}
#: What stands in the place of parameters of the registry, by the beginning of the path.
REGISTRY = {
    "asn": ("AS4242429901", "AS4242429907", "nonsense"),
    "mntner": ("FOO-MNT", "NOBODY-MNT"),
    "name": ("FOO-MNT", "AS-FOO", "foo.dn42"),
    "object_class": ("aut-num", "nonsense"),
    "key": ("AS4242429901", "nothing"),
    "prefix": ("172.20.0.128/25", "172.20.0.0/16", "fd42:1::/48", "10.0.0.0/8"),
    "address": ("172.20.0.200", "fd42:1::1"),
    "number": ("4242429901", "4242429907"),
    "handle": ("Foo-DN42", "FOO-MNT"),
    "kind": ("asn", "ipv4", "ipv6", "dns"),
    "commit": ("0" * 40,),
}
QUERIES = {
    "/registry/api/v1/routes": ("?origin=AS4242429901", "?origin=AS4242429902", "?origin=AS1"),
    "/registry/api/v1/search": ("?q=foo", "?q=172.20.0.1", "?q=nothing-here"),
    "/api/v1/audit": ("?limit=5",),
    "/api/v1/agent/desired-state": ("",),
}
#: Differs from one answer to the next by design: a request's id, and in pages the clock and a form's token.
PASSING = re.compile(r'"request_id":"[^"]*"|"last_used_at":"[^"]*"|localhost:\d+')
PASSING_IN_PAGES = re.compile(
    r'(?<![\w-])[\w-]{43}(?![\w-])|\b[a-z0-9]{16}\b|localhost:\d+|name="rl-now" content="[^"]*"'
)

NOTHING = "00000000-0000-4000-8000-000000000000"

#: Between two times of spoiling; without it, filling takes more of the processor than the three services.
_BETWEEN_SECONDS = 0.1

Question = tuple[str, str]
Answer = tuple[int, str]


def questions(opened: Town, world: World) -> list[Question]:
    """Every GET route of the three applications, with every value that stands in its places."""
    found: list[Question] = []
    for service in SERVICES:
        for route in routes_of(opened.apps[service]):
            method, path = route.split()
            if method == "GET" and (service, path) not in ENDLESS | DEEDS | TIERS:
                addresses = [f"{a}{query}" for a in filled(world, service, path) for query in queries(path)]
                found += [(service, address) for address in addresses]
    return found


def queries(path: str) -> tuple[str, ...]:
    return ("", *QUERIES.get(path, ()))


def filled(world: World, service: str, path: str) -> list[str]:
    """The path with each value that stands in its places."""
    places = re.findall(r"((?:\w+/)?)\{(\w+)(?::path)?\}", path)
    template = re.sub(r"\{(\w+)(?::path)?\}", "{}", path)
    values = [values_of(world, service, before, name) for before, name in places]
    return [template.format(*chosen) for chosen in itertools.product(*values)]


def values_of(world: World, service: str, before: str, name: str) -> tuple[str, ...]:
    """Values of a parameter, the last of which nothing has."""
    if service == "registry":
        return REGISTRY.get(name, ("nothing",))
    known = world.names.get((service, f"{before}{{{name}}}")) or world.names.get((service, name))
    return (known, NOTHING) if known else (NOTHING,)


async def ask(opened: Town, world: World, question: Question) -> Answer:
    service, address = question
    caller = "agent" if address.startswith("/api/v1/agent/") else service
    headers = {"Accept": "application/json" if "/api/" in address else "text/html", **world.callers[caller]}
    client = opened.clients[service]
    if address.endswith("/stream"):
        # Ends by itself, because the probe has ended.
        headers["Accept"] = "text/event-stream"
    answer = await client.get(address, headers=headers)
    if ABOUT_THE_MOMENT.search(address.partition("?")[0]):
        return answer.status_code, ""
    passing = PASSING_IN_PAGES if "html" in answer.headers.get("content-type", "") else PASSING
    return answer.status_code, passing.sub("", answer.text)


async def ask_all(
    opened: Town, world: World, asked: list[Question], times: int = 2
) -> dict[Question, Answer]:
    """The last answers; each is asked for twice, so that the second may come from the cache."""
    found = {}
    for question in asked:
        for _ in range(times):
            found[question] = await ask(opened, world, question)
    return found


class Spoiler:
    """Somebody who fills the server until it evicts, and empties it, again and again."""

    def __init__(self, server: KeyValueServer) -> None:
        self.server = server
        self.flushed = 0
        self.written = 0

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._spoil())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _spoil(self) -> None:
        reader, writer = await asyncio.open_connection(self.server.host, self.server.port)
        try:
            while True:
                for _ in range(16):
                    names = range(self.written, self.written + 50)
                    await self._say(reader, writer, *(f"SET junk:{n} {'x' * 4000}" for n in names))
                    self.written += 50
                await self._say(reader, writer, "FLUSHALL")
                self.flushed += 1
                await asyncio.sleep(_BETWEEN_SECONDS)
        finally:
            writer.close()

    @staticmethod
    async def _say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *commands: str) -> None:
        writer.write("".join(f"{command}\r\n" for command in commands).encode())
        for _ in commands:
            assert (await reader.readline()).startswith((b"+", b"-OOM"))


def counters(server: KeyValueServer) -> dict[str, int]:
    """The numbers of `INFO stats`."""
    with socket.create_connection((server.host, server.port), timeout=10) as asking:
        asking.sendall(b"INFO stats\r\n")
        with asking.makefile("rb") as answer:
            size = int(answer.readline().removeprefix(b"$"))
            lines = answer.read(size).decode().splitlines()
    pairs = (line.partition(":") for line in lines)
    return {name: int(value) for name, _, value in pairs if value.isdigit()}


@pytest.fixture
async def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    await build(made)
    return made


@pytest.mark.parametrize("rounds", [2, pytest.param(60, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])])
async def test_no_answer_of_the_whole_api_changes(world: World, tmp_path: Path, rounds: int) -> None:
    async with town(world) as opened:
        asked = questions(opened, world)
        expected = await ask_all(opened, world, asked, times=1)
    assert_is_worth_asking(expected)
    with redis_server(tmp_path / "small", maxmemory="1mb") as small:
        spoiler = Spoiler(small)
        async with town(world, small.url) as opened, spoiler.at_work():
            for number in range(rounds):
                # What an idle server needs is most of the megabyte, so that hardly a key finds room; in three
                # they live until junk has pushed them out, or until the next FLUSHALL.
                tell(small, f"CONFIG SET maxmemory {'3mb' if number % 2 else '1mb'}")
                assert not different(await ask_all(opened, world, asked), expected)
        counted = counters(small)
    assert spoiler.flushed > rounds
    assert counted["evicted_keys"] > 0
    assert counted["keyspace_hits"] > 0


FOREIGN = ("[]", '"text"', '{"value":{"a":[1]},"version":"x"}', "\\xff\\x00 not JSON")


async def write_over(server: KeyValueServer, value: str) -> int:
    """Put another application's value in the place of every key, with its TTL; how many there were."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    written = 0
    try:
        for database in range(4):
            writer.write(f"SELECT {database}\r\nKEYS *\r\n".encode())
            assert await reader.readline() == b"+OK\r\n"
            count = int((await reader.readline())[1:])
            keys = [(await reader.readline(), await reader.readline())[1].strip() for _ in range(count)]
            for key in keys:
                quoted = value.replace('"', '\\"')
                writer.write(b"SET " + key + f' "{quoted}" KEEPTTL\r\n'.encode())
                assert await reader.readline() == b"+OK\r\n"
            written += count
    finally:
        writer.close()
    return written


async def test_a_cache_that_holds_another_application_s_values_changes_no_answer(
    world: World, tmp_path: Path
) -> None:
    async with town(world) as opened:
        # The sign-in service keeps nothing there.
        asked = [one for one in questions(opened, world) if one[0] != "auth" and "/api/" in one[1]]
        expected = await ask_all(opened, world, asked, times=1)
    with redis_server(tmp_path / "foreign") as server:
        async with town(world, server.url) as opened:
            await ask_all(opened, world, asked, times=1)
            for value in FOREIGN:
                assert await write_over(server, value) > 0
                assert not different(await ask_all(opened, world, asked, times=1), expected), value


def different(found: dict[Question, Answer], expected: dict[Question, Answer]) -> str:
    """A line for each answer that changed, with where it begins to."""
    return "\n".join(
        f"{asked}: {expected[asked][0]} {answer[0]} {beginning(expected[asked][1], answer[1])}"
        for asked, answer in found.items()
        if answer != expected[asked]
    )


def beginning(one: str, other: str) -> tuple[str, str]:
    """Both texts from a little before the first place where they differ."""
    same = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    return one[max(0, same - 60) : same + 60], other[max(0, same - 60) : same + 60]


def assert_is_worth_asking(expected: dict[Question, Answer]) -> None:
    """Nothing fails, and most routes answer with something."""
    statuses = Counter(status for status, _ in expected.values())
    assert not [question for question, (status, _) in expected.items() if status >= 500]
    assert statuses[200] > sum(statuses.values()) / 3, statuses
