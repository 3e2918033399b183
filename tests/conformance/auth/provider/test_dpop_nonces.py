"""A server that wants a nonce of its own in every proof (RFC 9449, sections 8 and 9). Rows M4 and A26."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import httpx2
import pytest
import pytest_asyncio

from tests.conformance.auth.provider.keys import Holder
from tests.conformance.auth.provider.provider import (
    ISSUER,
    PORTAL,
    TOOL,
    URI_OF,
    Person,
    Pkce,
    Provider,
    fill,
    open_provider,
    query_of,
    wanted,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOKEN, USERINFO, PAR = (f"{ISSUER}/{name}" for name in ("token", "userinfo", "par"))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def asking(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Provider]:
    directory = tmp_path_factory.mktemp("nonces")
    url = f"sqlite:///{directory / 'auth.db'}"
    async with AsyncExitStack() as stack:
        # Only while it is opened: it lives beside the tests of other files.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ROUTELOOM_AUTH_TOKENS__DPOP_NONCES", "true")
            await fill(url, directory)
            opened = await stack.enter_async_context(open_provider(url, directory))
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def bea(asking: Provider) -> Person:
    return await asking.person()


async def refresh(asking: Provider, token: str, holder: Holder, nonce: str | None) -> httpx2.Response:
    form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": TOOL}
    proof = holder.proof("POST", TOKEN, asking.clock(), nonce=nonce)
    return await asking.http.post("/auth/token", data=form, headers=proof)


async def given(asking: Provider, holder: Holder) -> str:
    """The nonce that a refusal brings."""
    refused = await refresh(asking, "rlr_x", holder, None)
    assert (refused.status_code, refused.json()["error"]) == (400, "use_dpop_nonce")
    assert refused.headers["cache-control"] == "no-store"
    return str(refused.headers["dpop-nonce"])


async def signed_in(asking: Provider, person: Person, holder: Holder) -> dict[str, str]:
    pkce = Pkce()
    form = {
        "grant_type": "authorization_code",
        "code": await asking.code(person, pkce, TOOL),
        "code_verifier": pkce.verifier,
        "redirect_uri": URI_OF[TOOL],
        "client_id": TOOL,
    }
    proof = holder.proof("POST", TOKEN, asking.clock(), nonce=await given(asking, holder))
    answer = await asking.http.post("/auth/token", data=form, headers=proof)
    assert answer.status_code == 200, answer.text
    found: dict[str, str] = answer.json()
    return found


async def test_m4_the_refusal_brings_the_nonce_and_burns_nothing(asking: Provider, bea: Person) -> None:
    holder = Holder()
    tokens = await signed_in(asking, bea, holder)
    refused = await refresh(asking, tokens["refresh_token"], holder, None)
    assert refused.json()["error"] == "use_dpop_nonce"
    answer = await refresh(asking, tokens["refresh_token"], holder, refused.headers["dpop-nonce"])
    assert (answer.status_code, answer.json()["token_type"]) == (200, "DPoP")
    assert answer.headers["dpop-nonce"], "the next proof's nonce comes with success, too"


@pytest.mark.parametrize("nonce", ["", "x", "é", "A" * 43, 7, None, ["a"]])
async def test_m4_a_nonce_that_is_none_of_ours(asking: Provider, nonce: str | None) -> None:
    refused = await refresh(asking, "rlr_x", Holder(), nonce)
    assert (refused.status_code, refused.json()["error"]) == (400, "use_dpop_nonce")


@pytest.mark.parametrize(("seconds", "good"), [(0, True), (119, True), (241, False), (7200, False)])
async def test_m4_a_nonce_is_good_for_minutes(asking: Provider, seconds: int, good: bool) -> None:
    holder = Holder()
    nonce = await given(asking, holder)
    asking.clock.turn(seconds=seconds)
    told = (await refresh(asking, "rlr_x", holder, nonce)).json()["error"]
    assert told == ("invalid_grant" if good else "use_dpop_nonce")


async def test_m4_a_bad_proof_is_not_told_apart_by_its_nonce(asking: Provider) -> None:
    holder = Holder()
    nonce = await given(asking, holder)
    proof = holder.proof("POST", USERINFO, asking.clock(), nonce=nonce)
    form = {"grant_type": "refresh_token", "refresh_token": "rlr_x", "client_id": TOOL}
    refused = await asking.http.post("/auth/token", data=form, headers=proof)
    assert refused.json()["error"] == "invalid_dpop_proof"


async def test_m4_userinfo_asks_in_its_challenge(asking: Provider, bea: Person) -> None:
    holder = Holder()
    token = (await signed_in(asking, bea, holder))["access_token"]
    nonce: str | None = None
    for status in (401, 200):
        proof = holder.proof("GET", USERINFO, asking.clock(), token, nonce=nonce)
        answer = await asking.http.get("/auth/userinfo", headers={"Authorization": f"DPoP {token}", **proof})
        assert answer.status_code == status
        if status == 401:
            assert 'error="use_dpop_nonce"' in answer.headers["www-authenticate"]
            assert answer.headers["www-authenticate"].startswith("DPoP ")
        nonce = answer.headers["dpop-nonce"]


async def test_m4_a_pushed_proof_needs_one_too(asking: Provider, bea: Person) -> None:
    holder, pkce = Holder(), Pkce()
    form = {**wanted(pkce, PORTAL), **asking.authentication(PORTAL)}
    refused = await asking.http.post(
        "/auth/par", data=form, headers=holder.proof("POST", PAR, asking.clock())
    )
    assert (refused.status_code, refused.json()["error"]) == (400, "use_dpop_nonce")
    proof = holder.proof("POST", PAR, asking.clock(), nonce=refused.headers["dpop-nonce"])
    pushed = await asking.http.post("/auth/par", data=form, headers=proof)
    assert pushed.status_code == 201
    sent = {"client_id": PORTAL, "request_uri": pushed.json()["request_uri"]}
    assert "code" in query_of(await bea.browser.get("/auth/authorize", params=sent))


async def test_a26_a_page_of_a_registered_origin_may_read_the_nonce(asking: Provider) -> None:
    holder = Holder()
    proof = holder.proof("POST", TOKEN, asking.clock())
    form = {"grant_type": "refresh_token", "refresh_token": "rlr_x", "client_id": TOOL}
    headers = {**proof, "Origin": "https://shop.example"}
    answer = await asking.http.post("/auth/token", data=form, headers=headers)
    assert answer.headers["access-control-allow-origin"] == "https://shop.example"
    assert "DPoP-Nonce" in answer.headers["access-control-expose-headers"]


async def test_m4_who_proves_no_key_is_asked_for_nothing(asking: Provider, bea: Person) -> None:
    tokens = await asking.tokens(bea)
    answer = await asking.refresh(tokens["refresh_token"])
    assert (answer.status_code, "dpop-nonce" in answer.headers) == (200, False)


async def test_m4_without_the_setting_nobody_is_asked(provider: Provider) -> None:
    refused = await refresh(provider, "rlr_x", Holder(), None)
    assert (refused.json()["error"], "dpop-nonce" in refused.headers) == ("invalid_grant", False)
