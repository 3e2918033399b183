"""Codes, tombstones and ceremonies: one set of cases on kv and on SQL, and the same answers from both."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from auth_server.keys import CODE, CODE_USED
from auth_server.tokens.repository import GrantRepository
from shared.cache import Tier
from shared.database import DatabaseUnavailable
from shared.kernel.secrets import digest_of
from shared.testing.authenticator import Claims
from shared.testing.servers import KeyValueServer, valkey_server
from tests.conformance.auth.people.house import House, migrate, open_house
from tests.conformance.auth.provider.provider import SHOP, Pkce, Provider, fill, open_provider
from tests.integration.keyspace import hold_keyspace

Answer = Any
CodeCase = Callable[[Provider], Awaitable[Answer]]
CeremonyCase = Callable[[House], Awaitable[Answer]]
KV_URL = "ROUTELOOM_AUTH_KV__URL"


@pytest.fixture(scope="module")
def kv_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with valkey_server(tmp_path_factory.mktemp("transients")) as server:
        yield server


@pytest.fixture
def kv(kv_server: KeyValueServer) -> Iterator[KeyValueServer]:
    kv_server.start()
    kv_server.flush()
    yield kv_server
    kv_server.resume()
    kv_server.start()
    hold_keyspace(kv_server, Tier.KV)


@asynccontextmanager
async def provider_on(url: str | None, directory: Path) -> AsyncIterator[Provider]:
    """The provider with that kv tier, or with none."""
    directory.mkdir(exist_ok=True)
    database = f"sqlite:///{directory / 'auth.db'}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KV_URL, url or "")
        await fill(database, directory)
        async with open_provider(database, directory) as opened:
            yield opened


@asynccontextmanager
async def house_on(url: str | None, directory: Path) -> AsyncIterator[House]:
    directory.mkdir(exist_ok=True)
    database = f"sqlite:///{directory / 'auth.db'}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KV_URL, url or "")
        await migrate(database)
        async with open_house(database, directory) as opened:
            yield opened


# --- codes -------------------------------------------------------------------------------------------


async def told(answer: Any) -> tuple[int, Any]:
    body = answer.json()
    return answer.status_code, body.get("error") or sorted(body)


async def ends(provider: Provider, person: Any) -> list[Any]:
    return [reason for _, reason in await provider.grants(person)]


async def redeemed_once(provider: Provider) -> Answer:
    ada, pkce = await provider.person(), Pkce()
    code = await provider.code(ada, pkce)
    return [await told(await provider.redeem(code, pkce)), await ends(provider, ada)]


async def redeemed_twice(provider: Provider) -> Answer:
    ada, pkce = await provider.person(), Pkce()
    code = await provider.code(ada, pkce)
    answers = [await told(await provider.redeem(code, pkce)) for _ in range(3)]
    return [answers, await ends(provider, ada)]


async def redeemed_at_the_same_time(provider: Provider) -> Answer:
    ada, pkce = await provider.person(), Pkce()
    code = await provider.code(ada, pkce)
    answers = await asyncio.gather(*(provider.redeem(code, pkce) for _ in range(8)))
    # Whether the winner's tokens were made before the replay was seen is a matter of order; that no more
    # than one got any, and that the family is ended, is not.
    winners = [answer for answer in answers if answer.status_code == 200]
    return [len(winners) <= 1, await ends(provider, ada)]


async def wrong_verifier_then_the_right_one(provider: Provider) -> Answer:
    ada, pkce = await provider.person(), Pkce()
    code = await provider.code(ada, pkce)
    answers = [await told(await provider.redeem(code, each)) for each in (Pkce(), pkce)]
    return [answers, await ends(provider, ada)]


async def guessed_too_often(provider: Provider) -> Answer:
    ada, pkce = await provider.person(), Pkce()
    code = await provider.code(ada, pkce)
    answers = [await told(await provider.redeem(code, Pkce())) for _ in range(6)]
    answers.append(await told(await provider.redeem(code, pkce)))
    return [answers, await ends(provider, ada)]


async def taken_by_another_client(provider: Provider) -> Answer:
    ada, pkce = await provider.person(), Pkce()
    code = await provider.code(ada, pkce)
    answers = [await told(await provider.redeem(code, pkce, SHOP))]
    answers.append(await told(await provider.redeem(code, pkce)))
    return [answers, await ends(provider, ada)]


async def too_late(provider: Provider) -> Answer:
    ada, pkce = await provider.person(), Pkce()
    code = await provider.code(ada, pkce)
    provider.clock.turn(seconds=121)
    return [await told(await provider.redeem(code, pkce)), await ends(provider, ada)]


async def never_issued(provider: Provider) -> Answer:
    pkce = Pkce()
    code = await provider.code(await provider.person(), pkce)
    return await told(await provider.redeem(code[:-6] + "AAAAAA", pkce))


async def replayed_after_the_tombstone_is_gone(provider: Provider) -> Answer:
    ada, pkce = await provider.person(), Pkce()
    code = await provider.code(ada, pkce)
    first = await told(await provider.redeem(code, pkce))
    await provider.execute("DELETE FROM oauth_codes")
    if provider.resources.kv.configured:
        await provider.resources.kv.delete(CODE_USED.key(digest=digest_of(code)))
    return [first, await told(await provider.redeem(code, pkce)), await ends(provider, ada)]


CODE_CASES: list[CodeCase] = [
    redeemed_once,
    redeemed_twice,
    redeemed_at_the_same_time,
    wrong_verifier_then_the_right_one,
    guessed_too_often,
    taken_by_another_client,
    too_late,
    never_issued,
    replayed_after_the_tombstone_is_gone,
]


async def test_codes_get_the_same_answers_from_both(kv: KeyValueServer, tmp_path: Path) -> None:
    async with provider_on(kv.url, tmp_path / "kv") as on_kv, provider_on(None, tmp_path / "sql") as on_sql:
        for case in CODE_CASES:
            answers = [await case(on_kv), await case(on_sql)]
            assert answers[0] == answers[1], case.__name__
        assert await on_kv.rows("SELECT digest FROM oauth_codes") == []
        assert not on_sql.resources.kv.configured


async def test_a_replay_is_what_both_say_it_is(kv: KeyValueServer, tmp_path: Path) -> None:
    async with provider_on(kv.url, tmp_path / "kv") as on_kv:
        answers, reasons = await redeemed_twice(on_kv)
        assert [status for status, _ in answers] == [200, 400, 400]
        assert reasons == ["code_replayed"]
        assert (await redeemed_at_the_same_time(on_kv))[1] == ["code_replayed"]


# --- ceremonies --------------------------------------------------------------------------------------


async def signed_in_once(house: House) -> Answer:
    ada = await house.person("once")
    return (await house.visitor(authenticator=ada.authenticator).sign_in()).status_code


async def answered_twice(house: House) -> Answer:
    ada = await house.person("twice")
    browser = house.visitor(authenticator=ada.authenticator)
    sent = await browser.assertion()
    answers = [await browser.post("/auth/api/v1/sign-in", sent) for _ in range(2)]
    return [(answer.status_code, answer.json().get("code")) for answer in answers]


async def answered_at_the_same_time(house: House) -> Answer:
    ada = await house.person("parallel")
    browser = house.visitor(authenticator=ada.authenticator)
    sent = await browser.assertion()
    answers = await asyncio.gather(*(browser.post("/auth/api/v1/sign-in", sent) for _ in range(6)))
    return sorted(answer.status_code for answer in answers)


async def answered_in_another_browser(house: House) -> Answer:
    ada = await house.person("elsewhere")
    sent = await house.visitor(authenticator=ada.authenticator).assertion()
    answer = await house.visitor().post("/auth/api/v1/sign-in", sent)
    return answer.status_code, answer.json().get("code")


async def answered_wrongly_then_rightly(house: House) -> Answer:
    ada = await house.person("wrongly")
    browser = house.visitor(authenticator=ada.authenticator)
    wrong = await browser.sign_in(Claims(spoil_signature=True))
    return wrong.status_code, (await browser.sign_in()).status_code


CEREMONY_CASES: list[CeremonyCase] = [
    signed_in_once,
    answered_twice,
    answered_at_the_same_time,
    answered_in_another_browser,
    answered_wrongly_then_rightly,
]


async def test_ceremonies_get_the_same_answers_from_both(kv: KeyValueServer, tmp_path: Path) -> None:
    async with house_on(kv.url, tmp_path / "kv") as on_kv, house_on(None, tmp_path / "sql") as on_sql:
        for case in CEREMONY_CASES:
            answers = [await case(on_kv), await case(on_sql)]
            assert answers[0] == answers[1], case.__name__
        assert await on_kv.rows("SELECT id FROM webauthn_ceremonies") == []


async def test_failures_are_counted_over_all_workers(kv: KeyValueServer, tmp_path: Path) -> None:
    async with house_on(kv.url, tmp_path / "a") as one, house_on(kv.url, tmp_path / "b") as other:
        for house in (one, other):
            for _ in range(5):
                assert (await house.visitor().recover("nobody", "2222-2222-2222-2222")).status_code == 401
        for house in (one, other):
            assert (await house.visitor().recover("nobody", "2222-2222-2222-2222")).status_code == 429
        kv.stop()
        # Each goes by its own view now: five of ten.
        assert (await one.visitor().recover("nobody", "2222-2222-2222-2222")).status_code == 401


# --- the tier comes and goes -------------------------------------------------------------------------


class TestTierComesAndGoes:
    @pytest.fixture
    async def provider(self, kv: KeyValueServer, tmp_path: Path) -> AsyncIterator[Provider]:
        async with provider_on(kv.url, tmp_path) as opened:
            yield opened

    async def test_lost_between_issue_and_redemption(self, provider: Provider, kv: KeyValueServer) -> None:
        ada, pkce = await provider.person(), Pkce()
        code = await provider.code(ada, pkce)
        kv.flush()
        assert await told(await provider.redeem(code, pkce)) == (400, "invalid_grant")
        assert await ends(provider, ada) == [None]
        again = Pkce()
        assert (await provider.redeem(await provider.code(ada, again), again)).status_code == 200

    async def test_lost_after_redemption_a_replay_is_still_known(
        self, provider: Provider, kv: KeyValueServer
    ) -> None:
        ada, pkce = await provider.person(), Pkce()
        code = await provider.code(ada, pkce)
        assert (await provider.redeem(code, pkce)).status_code == 200
        kv.flush()
        assert await told(await provider.redeem(code, pkce)) == (400, "invalid_grant")
        assert await ends(provider, ada) == ["code_replayed"]

    async def test_c1_sql_that_fails_after_the_claim_gives_nothing_and_a_replay_is_still_known(
        self, provider: Provider, kv: KeyValueServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ada, pkce = await provider.person(), Pkce()
        code = await provider.code(ada, pkce)

        async def lost(*_: Any) -> None:
            raise DatabaseUnavailable

        with monkeypatch.context() as patch:
            patch.setattr(GrantRepository, "note_code_used", lost)
            assert await told(await provider.redeem(code, pkce)) == (503, "temporarily_unavailable")
        assert await provider.rows("SELECT 1 FROM refresh_tokens") == []
        assert await ends(provider, ada) == [None]
        # The tier has taken the code: it is not good any more, and whoever brings it again ends the family.
        assert await told(await provider.redeem(code, pkce)) == (400, "invalid_grant")
        assert await ends(provider, ada) == ["code_replayed"]
        kv.flush()
        assert await told(await provider.redeem(code, pkce)) == (400, "invalid_grant")

    @pytest.mark.parametrize("fault", ["stopped", "frozen"])
    async def test_away_at_issue_and_back_at_redemption(
        self, provider: Provider, kv: KeyValueServer, fault: str
    ) -> None:
        ada, pkce = await provider.person(), Pkce()
        kv.stop() if fault == "stopped" else kv.pause()
        code = await provider.code(ada, pkce)
        kv.start() if fault == "stopped" else kv.resume()
        answers = [await told(await provider.redeem(code, pkce)) for _ in range(2)]
        assert [status for status, _ in answers] == [200, 400]
        assert await ends(provider, ada) == ["code_replayed"]

    @pytest.mark.parametrize("fault", ["stopped", "frozen"])
    async def test_there_at_issue_and_away_at_redemption(
        self, provider: Provider, kv: KeyValueServer, fault: str
    ) -> None:
        ada, pkce = await provider.person(), Pkce()
        code = await provider.code(ada, pkce)
        kv.stop() if fault == "stopped" else kv.pause()
        assert await told(await provider.redeem(code, pkce)) == (400, "invalid_grant")
        kv.start() if fault == "stopped" else kv.resume()
        again = Pkce()
        assert (await provider.redeem(await provider.code(ada, again), again)).status_code == 200

    async def test_no_key_is_left_without_an_end(self, provider: Provider) -> None:
        await redeemed_twice(provider)
        await guessed_too_often(provider)
        for family in (CODE, CODE_USED):
            survey = await provider.resources.kv.survey(family)
            assert survey.without_ttl == 0
        seen = await provider.resources.kv.info()
        assert seen.keys_without_ttl(provider.resources.kv.database) == 0

    async def test_ceremonies_begun_without_the_tier_end_with_it(
        self, kv: KeyValueServer, tmp_path: Path
    ) -> None:
        async with house_on(kv.url, tmp_path / "house") as house:
            ada = await house.person("ada")
            browser = house.visitor(authenticator=ada.authenticator)
            kv.stop()
            begun_without = await browser.assertion()
            kv.start()
            assert (await browser.post("/auth/api/v1/sign-in", begun_without)).status_code == 200
            begun_with = await browser.assertion()
            kv.flush()
            lost = await browser.post("/auth/api/v1/sign-in", begun_with)
            assert 400 <= lost.status_code < 500
            assert (await browser.sign_in()).status_code == 200
