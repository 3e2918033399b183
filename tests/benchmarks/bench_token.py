"""The token endpoint beside npm oidc-provider: client credentials, and redeem + refresh.

    python -m tests.benchmarks.bench_token

One process each on the same one core, everything else on the others, in turns; ES256 JWT access tokens
and ID tokens, HTTP Basic, PKCE. The median of the rounds counts, on the clock and by the server's own
processor time, which a busy machine disturbs less. Ours keeps rows in PostgreSQL and codes in Valkey.
A bare Starlette route that only signs shows the least that a token costs with the same server.
Then /healthz while 50 people sign in with recovery codes at once, whose hashes are slow on purpose.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from shared.testing.servers import postgres_server, valkey_server
from shared.web import csrf
from tests.benchmarks.http_load import Connection, Rate, form, get, measure, send_all
from tests.benchmarks.token_servers import ADDRESS, Served, basic, floor, ours, theirs

ROUNDS = 7
CREDENTIALS, CODES = 600, 120
SAMPLES = 150
#: (what, ours, theirs, at least)
GOALS = [
    ("client credentials", "ours", "oidc-provider, memory", 1.2),
    ("redeem + refresh", "ours", "oidc-provider, Valkey", 1.0),
]
Rates = dict[tuple[str, str], list[Rate]]


async def client_credentials(server: Served, number: int) -> Rate:
    fields = {"grant_type": "client_credentials", "scope": "fleet:read"}
    request = form(server.token, fields, basic("robot"))
    bodies, rate = await measure(server.origin, server.pid, [request] * number)
    assert json.loads(bodies[0])["access_token"].count(".") == 2
    return rate


async def redeem_and_refresh(server: Served, number: int) -> Rate:
    """Each code once, then each refresh token once."""
    redeeming = [
        {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": pkce.verifier,
            "redirect_uri": ADDRESS,
        }
        for code, pkce in await server.codes(number)
    ]
    requests = [form(server.token, fields, basic("house")) for fields in redeeming]
    bodies, redeemed = await measure(server.origin, server.pid, requests)
    tokens = [json.loads(body)["refresh_token"] for body in bodies]
    fields = ({"grant_type": "refresh_token", "refresh_token": token} for token in tokens)
    _, refreshed = await measure(
        server.origin, server.pid, [form(server.token, each, basic("house")) for each in fields]
    )
    return Rate(
        2 / (1 / redeemed.on_the_clock + 1 / refreshed.on_the_clock),
        2 / (1 / redeemed.of_its_processor + 1 / refreshed.of_its_processor),
    )


def rounds(servers: Sequence[Served]) -> Rates:
    rates: Rates = defaultdict(list)
    for server in servers:
        _round(server, CREDENTIALS // 3, CODES // 3)
    for _ in range(ROUNDS):
        for server in servers:
            for work, rate in _round(server, CREDENTIALS, CODES).items():
                rates[work, server.name].append(rate)
    return rates


def _round(server: Served, credentials: int, codes: int) -> dict[str, Rate]:
    seen = {"client credentials": asyncio.run(client_credentials(server, credentials))}
    if server.authorization:
        seen["redeem + refresh"] = asyncio.run(redeem_and_refresh(server, codes))
    return seen


def median(rates: Sequence[Rate]) -> Rate:
    return Rate(
        statistics.median(each.on_the_clock for each in rates),
        statistics.median(each.of_its_processor for each in rates),
    )


def show(rates: Rates) -> None:
    print(f"{'':20} {'':26} {'/s':>7} {'/s of processor':>16}")
    for (work, name), seen in sorted(rates.items()):
        rate = median(seen)
        print(f"{work:20} {name:26} {rate.on_the_clock:7.0f} {rate.of_its_processor:16.0f}")
    for work, one, other, goal in GOALS:
        mine, their = median(rates[work, one]), median(rates[work, other])
        by_clock = mine.on_the_clock / their.on_the_clock
        by_processor = mine.of_its_processor / their.of_its_processor
        print(f"{work}: {by_clock:.2f} x {other} (processor {by_processor:.2f} x), goal >= {goal} x")


async def health(server: Served, until: asyncio.Event | None) -> list[float]:
    """Milliseconds until /healthz answers, one question after the other."""
    connection = await Connection.open(server.origin)
    seen: list[float] = []
    while len(seen) < SAMPLES if until is None else not until.is_set():
        began = perf_counter()
        await connection.send(get(f"{server.origin}/healthz"))
        seen.append((perf_counter() - began) * 1000)
        await asyncio.sleep(0.002)
    connection.close()
    return seen


async def under_sign_ins(server: Served) -> tuple[list[float], list[float], float]:
    """/healthz alone, then while everybody signs in at once, and how long they took."""
    headers = {
        "Cookie": f"{csrf.COOKIE}={server.cookies[csrf.COOKIE]}",
        "X-CSRF-Token": server.cookies[csrf.COOKIE],
    }
    requests = []
    for name, code in server.people:
        body = json.dumps({"name": name, "code": code}).encode()
        request = form(f"{server.origin}/auth/api/v1/recovery", {}, headers)
        request = request.replace(b"application/x-www-form-urlencoded", b"application/json")
        request = request.replace(b"Content-Length: 0", f"Content-Length: {len(body)}".encode())
        requests.append(request + body)
    alone, done = await health(server, None), asyncio.Event()
    watching = asyncio.create_task(health(server, done))
    _, took = await send_all(server.origin, requests, len(requests))
    done.set()
    return alone, await watching, took


def show_health(alone: list[float], beside: list[float], people: int, took: float) -> None:
    print(f"/healthz in ms      {'p50':>6} {'p99':>6} {'most':>6}")
    for name, seen in (("alone", alone), (f"{people} sign-ins", beside)):
        p99 = statistics.quantiles(seen, n=100)[98]
        print(f"{name:19} {statistics.median(seen):6.1f} {p99:6.1f} {max(seen):6.1f}")
    print(f"{people} sign-ins with slow hashes took {took:.1f} s")


def main() -> int:
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(postgres_server(directory / "postgres"))
        valkey = stack.enter_context(valkey_server(directory / "valkey"))
        url = stack.enter_context(postgres.database())
        mine = stack.enter_context(ours("ours", url, valkey.url, directory / "ours"))
        others = [
            stack.enter_context(theirs("oidc-provider, memory", None)),
            stack.enter_context(theirs("oidc-provider, Valkey", f"{valkey.url}/9")),
            stack.enter_context(floor("bare Starlette, signs only")),
        ]
        show(rounds([mine, *others]))
        alone, beside, took = asyncio.run(under_sign_ins(mine))
        show_health(alone, beside, len(mine.people), took)
    return 0


if __name__ == "__main__":
    sys.exit(main())
