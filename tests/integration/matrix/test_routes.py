"""Every route × everybody: who is let in, who is not known, who is not allowed."""

import re

import pytest

from tests.integration.matrix.callers import (
    AN_AGENT,
    BROWSERS,
    NOBODY,
    TOKENS,
    Answer,
    Caller,
    address,
    expected,
    seen,
)
from tests.integration.matrix.doors import Doors
from tests.integration.matrix.routes import routes_of
from tests.integration.matrix.rows import AUTH, CLIENT, CONTROL, FORM, PUBLIC, REGISTRY, flat

pytestmark = pytest.mark.asyncio(loop_scope="package")
TABLES = {"control": CONTROL, "auth": AUTH, "registry": REGISTRY}
#: Answers without an end, which only those are asked for who get none.
ENDLESS = {"GET /fleet/stream"}
EVERYBODY = (NOBODY, *BROWSERS, AN_AGENT, *TOKENS)


@pytest.mark.parametrize("service", TABLES)
async def test_every_route_has_a_row_and_every_row_a_route(doors: Doors, service: str) -> None:
    rows = [route for _, route in flat(TABLES[service])]
    assert sorted(rows) == sorted(set(rows)), "no route has two rows"
    assert routes_of(doors.apps[service]) == sorted(rows, key=lambda row: (row.split()[1], row))


async def check(doors: Doors, service: str, row: tuple[str, str], callers: tuple[Caller, ...]) -> None:
    gate, route = row
    method, path = route.split()
    wanted = {caller.name: expected(gate, caller) for caller in callers}
    if route in ENDLESS:
        wanted = {name: answer for name, answer in wanted.items() if answer is not Answer.IN}
    found = {}
    for caller in callers:
        if wanted.get(caller.name) is not None:
            status = await doors.knock(service, caller, method, address(path))
            assert status < 500 or status == 503, f"{caller.name}: {status}"
            found[caller.name] = seen(status)
    assert found == {name: answer for name, answer in wanted.items() if answer is not None}


@pytest.mark.parametrize(
    "row", [row for row in flat(CONTROL) if not row[1].startswith("WS")], ids=lambda r: r[1]
)
async def test_control(doors: Doors, row: tuple[str, str]) -> None:
    await check(doors, "control", row, EVERYBODY)


@pytest.mark.parametrize("row", flat(AUTH), ids=lambda r: r[1])
async def test_auth(doors: Doors, row: tuple[str, str]) -> None:
    gate, (method, path) = row[0], row[1].split()
    if gate == CLIENT:
        found = {await doors.knock("auth", caller, method, address(path)) for caller in (NOBODY, *BROWSERS)}
        assert found <= {400, 401}, "no cookie stands for a client"
    else:
        await check(doors, "auth", row, (NOBODY, *BROWSERS))
    if gate != PUBLIC:
        # A token of ours is nothing here, whatever it may elsewhere.
        assert await doors.knock("auth", TOKENS[0], method, address(path)) in {400, 401, 403}


@pytest.mark.parametrize("row", flat(REGISTRY), ids=lambda r: r[1])
async def test_registry(doors: Doors, row: tuple[str, str]) -> None:
    await check(doors, "registry", row, EVERYBODY)


async def test_what_is_open_is_written_down() -> None:
    """Every write that everybody may send is on this short list."""
    open_doors = [row for table in TABLES.values() for row in flat(table) if row[0] in {PUBLIC, FORM}]
    writes = {route for _, route in open_doors if not route.startswith("GET")}
    assert {route.split()[1].rsplit("/", 1)[-1] for route in writes} == {
        "preferences",
        "sign-in",
        "webhook",
        "policy",  # a question about the public rules of the registry; it changes nothing
        "backchannel-logout",
        "sign-out",
        "enrol",
        "challenges",
        "authorize",
        "logout",
        "recovery",
        "options",
        "accept",
    }


@pytest.mark.parametrize("caller", BROWSERS, ids=lambda caller: caller.name)
async def test_pages_offer_what_the_rows_allow(doors: Doors, caller: Caller) -> None:
    """No navigation entry, link or form of a page leads to a door that stays shut."""
    gate_of = {route: gate for table in TABLES.values() for gate, route in flat(table)}
    for page in ("/", "/nodes", "/probes", "/access/tokens"):
        text = await doors.page(caller, page)
        offered = [("GET", href) for href in re.findall(r'href="(/[^"#?]*)', text)]
        offered += [("POST", action) for action in re.findall(r'action="(/[^"#?]*)', text)]
        shut = []
        for method, target in offered:
            gate = next((g for r, g in gate_of.items() if fits(r, method, target)), None)
            if gate is not None and expected(gate, caller) is not Answer.IN:
                shut.append(f"{method} {target}")
        assert shut == [], page
        entries = {"/enrolment": "access:admin", "/tiers": "tiers:read", "/audit": "audit:read"}
        for entry, gate in entries.items():
            assert (f'href="{entry}"' in text) == (expected(gate, caller) is Answer.IN), f"{page} {entry}"


def fits(route: str, method: str, target: str) -> bool:
    known, path = route.split()
    pattern = re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(path))
    return known == method and re.fullmatch(pattern, target) is not None
