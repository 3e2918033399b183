"""What one worker was told holds at the other: at once, where a second is allowed. No time passes here."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from shared.kernel.principal import SYSTEM
from tests.conformance.auth.targets.ours import Ours
from tests.conformance.auth.targets.target import HOUSE, RIVAL, SHOP, TOOL, Client, Pkce, Visitor
from tests.conformance.auth.workers.conftest import Workers

pytestmark = pytest.mark.asyncio(loop_scope="session")

INTERLEAVINGS = 200
AT_ONCE = 20


def beside(worker: Ours, visitor: Visitor) -> Visitor:
    """The same browser at another worker."""
    other = worker.visitor()
    other.browser.cookies.update(visitor.browser.cookies)
    return Visitor(other.browser, visitor.account)


def error_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json().get("error", "")


@pytest.mark.parametrize("client", [TOOL, SHOP], ids=["public", "confidential"])
async def test_f6_a_revocation_counts_at_the_other_worker(workers: Workers, client: Client) -> None:
    ada = await workers.one.person()
    tokens = await workers.one.tokens(ada, client)
    refreshed = (await workers.other.refresh(client, tokens["refresh_token"])).json()
    assert (await workers.other.userinfo(refreshed["access_token"])).status_code == 200
    form = {"token": refreshed["refresh_token"]}
    assert (await workers.one.call("revocation", client, form)).status_code == 200
    for worker in (workers.other, workers.one):
        for given in (tokens, refreshed):
            assert await worker.is_dead(given["access_token"])
        assert error_of(await worker.refresh(client, refreshed["refresh_token"])) == (400, "invalid_grant")
    assert await workers.other.introspect(SHOP, refreshed["access_token"]) == {"active": False}


async def test_c2_f6_a_code_is_used_at_one_of_two_workers(workers: Workers) -> None:
    ada, pkce = await workers.one.person(), Pkce()
    code = await workers.one.code(ada, HOUSE, pkce)
    both = (workers.one, workers.other)
    answers = await asyncio.gather(*(both[n % 2].redeem(HOUSE, code, pkce) for n in range(20)))
    assert [answer.status_code for answer in answers].count(200) <= 1
    won = [answer.json() for answer in answers if answer.status_code == 200]
    assert all([await workers.other.is_dead(given["access_token"]) for given in won])


async def test_c1_f6_a_replay_at_the_other_worker(workers: Workers) -> None:
    ada, pkce = await workers.one.person(), Pkce()
    code = await workers.one.code(ada, HOUSE, pkce)
    given = (await workers.other.redeem(HOUSE, code, pkce)).json()
    assert error_of(await workers.one.redeem(HOUSE, code, pkce)) == (400, "invalid_grant")
    assert await workers.other.is_dead(given["access_token"])


async def test_e3_f6_a_lost_answer_is_given_again_by_the_other_worker(workers: Workers) -> None:
    ada = await workers.one.person()
    parent = (await workers.one.tokens(ada, TOOL))["refresh_token"]
    answers = [await worker.refresh(TOOL, parent) for worker in (workers.one, workers.other)]
    assert answers[0].json() == answers[1].json()


async def test_e4_f6_parallel_uses_at_both_workers(workers: Workers) -> None:
    ada = await workers.one.person()
    token = (await workers.one.tokens(ada, TOOL))["refresh_token"]
    both = (workers.one, workers.other)
    answers = await asyncio.gather(*(both[n % 2].refresh(TOOL, token) for n in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["refresh_token"] for answer in answers}) == 1


async def test_k6_f6_a_sign_out_at_one_worker(workers: Workers) -> None:
    ada = await workers.one.person()
    tokens = await workers.one.tokens(ada, HOUSE, scope="openid profile")
    elsewhere = beside(workers.other, ada)
    assert "code" in (await workers.other.ask(elsewhere, HOUSE)).told
    sent = {"id_token_hint": tokens["id_token"]}
    await ada.browser.get(workers.one.endpoint("end_session"), params=sent)
    assert (await workers.other.ask(elsewhere, HOUSE)).kind == "asks to sign in"
    assert await workers.other.is_dead(tokens["access_token"])


async def test_g5_f6_a_disabled_person(workers: Workers) -> None:
    ada = await workers.one.person()
    tokens = await workers.other.tokens(beside(workers.other, ada), SHOP)
    async with workers.one.provider.accounts() as accounts:
        await accounts.disable(SYSTEM, UUID(ada.account or ""))
    assert await workers.other.introspect(SHOP, tokens["access_token"]) == {"active": False}
    assert error_of(await workers.other.refresh(SHOP, tokens["refresh_token"])) == (400, "invalid_grant")


async def later_by(steps: int, work: Any) -> Any:
    """Let others have so many turns of the loop first."""
    for _ in range(steps):
        await asyncio.sleep(0)
    return await work


async def race(workers: Workers, ada: Visitor, number: int) -> list[dict[str, Any]]:
    """Refresh at one worker while the family is revoked at the other; whatever was given."""
    tokens = await workers.one.tokens(ada, HOUSE)
    refresh_first, steps = number % 2 == 0, number // 2 % 40
    refreshing = workers.one.refresh(HOUSE, tokens["refresh_token"])
    revoking = workers.other.call("revocation", HOUSE, {"token": tokens["refresh_token"]})
    refreshed, revoked = await asyncio.gather(
        later_by(0 if refresh_first else steps, refreshing), later_by(steps if refresh_first else 0, revoking)
    )
    assert revoked.status_code == 200
    assert error_of(refreshed) in {(200, ""), (400, "invalid_grant")}
    return [tokens] + ([refreshed.json()] if refreshed.status_code == 200 else [])


async def test_e11_f6_two_hundred_interleavings_leave_nothing_alive(workers: Workers) -> None:
    ada = await workers.one.person()
    given: list[dict[str, Any]] = []
    for start in range(0, INTERLEAVINGS, AT_ONCE):
        numbers = range(start, start + AT_ONCE)
        for each in await asyncio.gather(*(race(workers, ada, number) for number in numbers)):
            given += each
    owner = workers.one.provider.stored(UUID(ada.account or ""))
    query = "SELECT count(*) FROM grants WHERE account_id = :owner AND revoked_at IS NULL"
    assert await workers.one.provider.rows(query, owner=owner) == [(0,)]
    for tokens in given[::5]:
        assert await workers.one.is_dead(tokens["access_token"])
        answer = await workers.other.refresh(HOUSE, tokens["refresh_token"])
        assert error_of(answer) == (400, "invalid_grant")


async def test_j3_a_token_for_another_audience(workers: Workers) -> None:
    """Signed by our key and good in everything else, but meant for somebody else."""
    one = workers.one
    ada = await one.person()
    good = await one.read(await one.api_token(ada, SHOP))
    for audience, known in ((good["aud"], True), ("https://rival.example/api", False), ([], False)):
        async with one.provider.services() as services:
            token = await services.inspection.minter.keys.sign({**good, "aud": audience}, "at+jwt")
        assert ((await one.userinfo(token)).status_code == 200) is known
        assert (await one.introspect(RIVAL, token)) == {"active": False}
