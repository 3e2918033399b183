"""Fifty at once at two workers: one wins, or all are told the same within the grace; nothing lives on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from auth_server.signing_keys.dependencies import key_ring
from tests.conformance.auth.targets.ours import Ours
from tests.conformance.auth.targets.target import DEVICE_GRANT, HOUSE, SET, SHOP, TOOL, Pkce
from tests.conformance.auth.workers.conftest import Workers

pytestmark = pytest.mark.asyncio(loop_scope="session")

Act = Callable[[Ours], Awaitable[httpx2.Response]]

AT_ONCE = 50
ROUNDS = [pytest.param(1, id="once"), pytest.param(25, marks=pytest.mark.soak, id="again and again")]


async def at_both(workers: Workers, act: Act) -> list[httpx2.Response]:
    """So many at the same time, every other one at the other worker."""
    both = (workers.one, workers.other)
    return await asyncio.gather(*(act(both[number % 2]) for number in range(AT_ONCE)))


def redeeming(code: str, pkce: Pkce) -> Act:
    return lambda at: at.redeem(HOUSE, code, pkce)


def refreshing(token: str) -> Act:
    return lambda at: at.refresh(TOOL, token)


def polling(device_code: str) -> Act:
    form = {"grant_type": DEVICE_GRANT, "device_code": device_code}
    return lambda at: at.call("token", SET, form)


def won(answers: list[httpx2.Response]) -> list[dict[str, Any]]:
    """What was given; whoever got nothing was told so in the words of the protocol."""
    refused = [answer for answer in answers if answer.status_code != 200]
    assert {(answer.status_code, answer.json()["error"]) for answer in refused} <= {(400, "invalid_grant")}
    return [answer.json() for answer in answers if answer.status_code == 200]


async def is_over(workers: Workers, tokens: dict[str, Any]) -> bool:
    both = (workers.one, workers.other)
    return all([await worker.is_dead(tokens["access_token"]) for worker in both])


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_c2_f6_a_code_at_two_workers(workers: Workers, rounds: int) -> None:
    ada = await workers.one.person()
    for _ in range(rounds):
        pkce = Pkce()
        code = await workers.one.code(ada, HOUSE, pkce)
        given = won(await at_both(workers, redeeming(code, pkce)))
        assert len(given) <= 1
        assert all([await is_over(workers, tokens) for tokens in given]), "the others were replays"


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_e3_e4_f6_a_refresh_token_at_two_workers(workers: Workers, rounds: int) -> None:
    ada = await workers.one.person()
    tokens = await workers.one.tokens(ada, TOOL)
    for _ in range(rounds):
        token = tokens["refresh_token"]
        given = won(await at_both(workers, refreshing(token)))
        assert len(given) == AT_ONCE, "all within the grace"
        assert len({each["refresh_token"] for each in given}) == 1
        tokens = given[0]
    first = tokens["refresh_token"]
    tokens = (await workers.one.refresh(TOOL, first)).json()
    for worker in (workers.one, workers.other):
        worker.later(11)
    assert won(await at_both(workers, refreshing(first))) == []
    assert won([await workers.other.refresh(TOOL, tokens["refresh_token"])]) == []
    assert await is_over(workers, tokens)


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_l2_f6_a_device_at_two_workers(workers: Workers, rounds: int) -> None:
    ada = await workers.one.person()
    for _ in range(rounds):
        form = {"scope": "openid"}
        begun = (await workers.one.call("device_authorization", SET, form)).json()
        await workers.one.confirm_device(ada, begun["user_code"])
        given = won(await at_both(workers, polling(begun["device_code"])))
        assert len(given) == 1
        assert (await workers.other.userinfo(given[0]["access_token"])).status_code == 200


async def test_h4_f6_keys_turn_while_everybody_signs_in(workers: Workers) -> None:
    ada = await workers.one.person()
    families = [(await workers.one.tokens(ada, SHOP))["refresh_token"] for _ in range(AT_ONCE)]

    async def rotate() -> None:
        provider = workers.one.provider
        async with provider.resources.database.transaction() as session:
            await key_ring(provider.resources, session, provider.app.state.opened_keys).rotate()

    waiting = iter(families)
    answers, _ = await asyncio.gather(at_both(workers, lambda at: at.refresh(SHOP, next(waiting))), rotate())
    given = won(answers)
    assert len(given) == AT_ONCE
    for tokens in given:
        for worker in (workers.one, workers.other):
            assert (await worker.userinfo(tokens["access_token"])).status_code == 200
            await worker.read(tokens["id_token"])
