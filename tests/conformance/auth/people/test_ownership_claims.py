"""What clients are told of a proved maintainer, and until when. Rows I7, E9, E12, P7, P8 and O9."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from auth_server.ownership.dependencies import rechecking
from tests.conformance.auth.people.network import Network, open_network
from tests.conformance.auth.people.signers import SshKey, make_ssh_key
from tests.conformance.auth.provider.provider import (
    SHOP,
    SHOP_URI,
    Person,
    Provider,
    fill,
    open_provider,
)

ASN = 4242429901
CSRF = "X-CSRF-Token"
SCOPE = "openid dn42 offline_access"
#: What is told does not depend on the database; two tests show that the statements work on both.
SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@dataclass
class Stage:
    """The provider, the registry, and somebody who holds the key of FOO-MNT."""

    provider: Provider
    network: Network
    key: SshKey
    ada: Person

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        browser = self.ada.browser
        await browser.get("/auth/account")
        headers = {CSRF: self.ada.csrf, "Accept": "application/json"}
        return await browser.request(method, f"/auth/api/v1/proofs{path}", json=body, headers=headers)

    async def prove(self, subject: str = "FOO-MNT") -> dict[str, Any]:
        challenge = (await self.call("POST", "/challenges", {"subject": subject})).json()
        signature = self.key.sign(challenge["text"])
        proof = await self.call("POST", f"/challenges/{challenge['id']}", {"signature": signature})
        assert proof.status_code == 201, proof.text
        found: dict[str, Any] = proof.json()
        return found

    async def tokens(self, scope: str = SCOPE) -> dict[str, Any]:
        return await self.provider.tokens(self.ada, SHOP, scope=scope, prompt="consent")

    async def told(self, tokens: dict[str, Any]) -> dict[str, Any]:
        """The claims of the network, which the ID token and userinfo tell alike."""
        claims = await self.provider.read(tokens["id_token"])
        shown = (await self.provider.userinfo(tokens["access_token"])).json()
        names = ("asn", "mntner", "dn42")
        found = {name: claims[name] for name in names if name in claims}
        assert found == {name: shown[name] for name in names if name in shown}
        return found

    async def refreshed(self, tokens: dict[str, Any]) -> dict[str, Any]:
        answer = await self.provider.refresh(tokens["refresh_token"], SHOP)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
async def stage(database_url: str, tmp_path: Path) -> AsyncIterator[Stage]:
    key = make_ssh_key(tmp_path, "ed25519")
    async with open_network(tmp_path / "network") as network:
        await network.mntner("FOO-MNT", key.auth)
        await network.mntner("BAR-MNT", key.auth)
        await network.aut_num(ASN, "FOO-MNT", "DN42-MNT")
        await network.aut_num(ASN + 1, "BAR-MNT", "FOO-MNT")
        await fill(database_url, tmp_path)
        async with open_provider(database_url, tmp_path, others=network.http) as provider:
            scopes = ("openid", "profile", "offline_access", "dn42")
            await provider.register(client_id=SHOP, redirect_uris=[SHOP_URI], scopes=scopes)
            yield Stage(provider, network, key, await provider.person())


@SQLITE
async def test_i7_p8_what_a_client_is_told(stage: Stage) -> None:
    assert await stage.told(await stage.tokens()) == {}
    await stage.prove()
    assert await stage.told(await stage.tokens()) == {
        "asn": ASN,
        "mntner": "FOO-MNT",
        "dn42": {
            "asn": ASN,
            "active_mnt": "FOO-MNT",
            "asns": [ASN, ASN + 1],
            "mnts": ["FOO-MNT"],
            "active_name": f"NET-{ASN}",
        },
    }
    # Only who was allowed to see it is told.
    assert await stage.told(await stage.tokens("openid profile")) == {}


@SQLITE
async def test_i7_the_as_number_that_was_asked_about_comes_first(stage: Stage) -> None:
    await stage.prove(f"AS{ASN + 1}")
    told = await stage.told(await stage.tokens())
    assert (told["asn"], told["mntner"]) == (ASN + 1, "BAR-MNT")


@SQLITE
async def test_i7_of_several_proofs_the_person_chooses(stage: Stage) -> None:
    await stage.prove("FOO-MNT")
    other = await stage.prove("BAR-MNT")
    assert (await stage.told(await stage.tokens()))["mntner"] == "FOO-MNT"
    assert (await stage.call("PUT", f"/{other['id']}/active")).status_code == 204
    told = await stage.told(await stage.tokens())
    assert (told["mntner"], told["asn"]) == ("BAR-MNT", ASN + 1)
    # The chosen one ends: the other one is told again.
    await stage.call("DELETE", f"/{other['id']}")
    assert (await stage.told(await stage.tokens()))["mntner"] == "FOO-MNT"


async def test_e12_p8_an_as_number_that_is_given_away_is_not_claimed_any_more(stage: Stage) -> None:
    await stage.prove()
    tokens = await stage.tokens()
    await stage.network.aut_num(ASN, "BAR-MNT")
    tokens = await stage.refreshed(tokens)
    told = await stage.told(tokens)
    assert (told["asn"], told["dn42"]["asns"]) == (ASN + 1, [ASN + 1])
    await stage.network.aut_num(ASN + 1, "BAR-MNT")
    assert await stage.told(await stage.refreshed(tokens)) == {"mntner": "FOO-MNT"}


@SQLITE
async def test_e12_p7_without_its_line_the_claims_are_gone_at_the_next_refresh(stage: Stage) -> None:
    await stage.prove()
    tokens = await stage.tokens()
    await stage.network.mntner("FOO-MNT", "pgp-fingerprint " + "0" * 40)
    assert await stage.told(await stage.refreshed(tokens)) == {}
    # It does not come back by itself: whoever has the key again proves it again.
    await stage.network.mntner("FOO-MNT", stage.key.auth)
    assert await stage.told(await stage.tokens()) == {}


@SQLITE
async def test_e12_with_the_registry_away_its_last_word_holds_for_a_day(stage: Stage) -> None:
    await stage.prove()
    tokens = await stage.tokens()
    stage.network.way.away = True
    tokens = await stage.refreshed(tokens)
    assert (await stage.told(tokens))["mntner"] == "FOO-MNT"
    stage.provider.clock.turn(hours=24, seconds=1)
    tokens = await stage.refreshed(tokens)
    assert await stage.told(tokens) == {}
    stage.network.way.away = False
    assert (await stage.told(await stage.refreshed(tokens)))["mntner"] == "FOO-MNT"


async def test_e9_a_withdrawn_proof_ends_what_clients_were_given_by_it(stage: Stage) -> None:
    proof = await stage.prove()
    tokens, others = await stage.tokens(), await stage.tokens("openid offline_access")
    assert (await stage.call("DELETE", f"/{proof['id']}")).status_code == 204
    refused = await stage.provider.refresh(tokens["refresh_token"], SHOP)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert await stage.refreshed(others)
    assert (await stage.call("DELETE", f"/{proof['id']}")).status_code == 404


@SQLITE
async def test_o9_the_trail_tells_of_proofs(stage: Stage) -> None:
    proof = await stage.prove()
    challenge = (await stage.call("POST", "/challenges", {"subject": "BAR-MNT"})).json()
    await stage.call("POST", f"/challenges/{challenge['id']}", {"signature": stage.key.sign("x")})
    await stage.call("DELETE", f"/{proof['id']}")
    told = [action for action in await stage.provider.actions(stage.ada) if action.startswith("proof.")]
    assert told == ["proof.begun", "proof.accepted", "proof.begun", "proof.refused", "proof.withdrawn"]


@SQLITE
async def test_o8_nobody_touches_the_proofs_of_others(stage: Stage) -> None:
    proof = await stage.prove()
    stage.ada = await stage.provider.person()
    for method, path in (("DELETE", f"/{proof['id']}"), ("PUT", f"/{proof['id']}/active")):
        assert (await stage.call(method, path)).status_code == 404
    assert (await stage.call("GET", "")).json() == []


@SQLITE
async def test_o8_applications_are_listed_and_shut_out(stage: Stage) -> None:
    tokens = await stage.tokens()
    browser, headers = stage.ada.browser, {"Accept": "application/json"}
    await browser.get("/auth/account")
    headers[CSRF] = stage.ada.csrf
    (shown,) = (await browser.get("/auth/api/v1/applications", headers=headers)).json()
    assert (shown["client_id"], shown["scopes"]) == (SHOP, sorted(SCOPE.split()))
    assert (shown["grants"], shown["offline"]) == (1, True)
    other = await stage.provider.person()
    await other.browser.get("/auth/account")
    stranger = {**headers, CSRF: other.csrf}
    path = f"/auth/api/v1/applications?client_id={SHOP}"
    assert (await other.browser.delete(path, headers=stranger)).status_code == 204
    assert await stage.refreshed(tokens)
    tokens = await stage.tokens()
    assert (await browser.delete(path, headers=headers)).status_code == 204
    refused = await stage.provider.refresh(tokens["refresh_token"], SHOP)
    assert refused.json()["error"] == "invalid_grant"
    assert (await stage.provider.introspect(tokens["access_token"], SHOP)) == {"active": False}
    assert (await browser.get("/auth/api/v1/applications", headers=headers)).json() == []


@SQLITE
async def test_p7_the_loop_lets_proofs_lapse_without_any_refresh(stage: Stage) -> None:
    await stage.prove()
    await stage.network.mntner("FOO-MNT", "pgp-fingerprint " + "0" * 40)
    checks = rechecking(stage.provider.app, stage.provider.resources)
    await checks.what_is_due()
    assert len((await stage.call("GET", "")).json()) == 1
    stage.provider.clock.at += timedelta(minutes=6)
    await checks.what_is_due()
    assert (await stage.call("GET", "")).json() == []
