"""Pages that join several features: proofs, applications, clients, keys and the trail."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from auth_server.commands import seed
from shared.kernel.principal import Role
from tests.conformance.auth.people.house import API, HandClock, House, Person, open_house
from tests.conformance.auth.people.network import Network, open_network
from tests.conformance.auth.people.signers import make_ssh_key, now

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
SVG = '<svg onload="1">'


@pytest.fixture
async def network(tmp_path: Path) -> AsyncIterator[Network]:
    async with open_network(tmp_path / "network") as opened:
        yield opened


@pytest.fixture
async def house(database_url: str, tmp_path: Path, network: Network) -> AsyncIterator[House]:
    async with open_house(database_url, tmp_path, clock=HandClock(now()), http=network.http) as opened:
        await seed(opened.resources.settings)
        yield opened


@pytest.fixture
async def admin(house: House) -> Person:
    return await house.person("root", Role.ADMIN)


async def test_p1_a_maintainer_is_proved_without_a_script(
    house: House, network: Network, admin: Person, tmp_path: Path
) -> None:
    key = make_ssh_key(tmp_path, "ed25519")
    await network.mntner("FOO-MNT", key.auth)
    await network.mntner("BAR-MNT", key.auth)
    await network.aut_num(4242429901, "FOO-MNT", "BAR-MNT")
    assert (await admin.page("/auth/account/proofs/new")).status_code == 200
    unknown = await admin.form("/auth/account/proofs", subject="NOBODY-MNT")
    assert (unknown.status_code, "rl-form-errors" in unknown.text) == (422, True)
    assert 'value="NOBODY-MNT"' in unknown.text
    choice = await admin.form("/auth/account/proofs", subject="AS4242429901")
    assert choice.text.count("<option") == 2
    begun = await admin.form("/auth/account/proofs", subject="AS4242429901", mntner="BAR-MNT")
    assert begun.status_code == 303
    path = begun.headers["location"]
    page = await admin.page(path)
    command = re.search(
        r"echo &#39;(http://localhost[^&]+)&#39; \| ssh-keygen -Y sign -n routeloom", page.text
    )
    assert command
    refused = await admin.form(path, signature="no signature")
    assert (refused.status_code, "no signature</textarea>" in refused.text) == (422, True)
    network.way.away = True
    away = await admin.form(path, signature=key.sign(command[1]))
    assert (away.status_code, "BEGIN SSH SIGNATURE" in away.text) == (503, True)
    network.way.away = False
    assert (await admin.form(path, signature=key.sign(command[1]))).headers["location"] == "/auth/account"
    account = (await admin.page("/auth/account")).text
    assert "BAR-MNT" in account
    (proof,) = (await admin.get(f"{API}/proofs")).json()
    assert (await admin.form(f"/auth/account/proofs/{proof['id']}/choose")).status_code == 303
    assert (await admin.form(f"/auth/account/proofs/{proof['id']}/withdraw")).status_code == 303
    assert "BAR-MNT" not in (await admin.page("/auth/account")).text


async def test_applications_are_registered_changed_and_shut_out(house: House, admin: Person) -> None:
    assert "Routeloom portal" in (await admin.page("/auth/clients")).text
    fields = {"client_id": "shop", "name": SVG, "kind": "web", "scopes": "openid"}
    wrong = await admin.form("/auth/clients/new", **fields, redirect_uris="javascript:alert(1)")
    assert (wrong.status_code, "rl-help-error" in wrong.text) == (422, True)
    assert SVG not in wrong.text
    made = await admin.form("/auth/clients/new", **fields, redirect_uris="https://shop.example/cb")
    assert made.status_code == 200
    secret = re.search(r"rlk_[A-Za-z0-9_-]+", made.text)
    assert secret
    shown = await admin.page("/auth/clients/shop")
    assert secret[0] not in shown.text
    assert SVG not in shown.text
    again = await admin.form("/auth/clients/new", **fields, redirect_uris="https://shop.example/cb")
    assert again.status_code == 409
    changed = {"name": "Shop", "redirect_uris": "https://shop.example/a\nhttps://shop.example/b"}
    assert (await admin.form("/auth/clients/shop", **changed, scopes="openid")).status_code == 303
    client = (await admin.get(f"{API}/clients/shop")).json()
    assert client["redirect_uris"] == ["https://shop.example/a", "https://shop.example/b"]
    fresh = await admin.form("/auth/clients/shop/secret")
    assert re.search(r"rlk_[A-Za-z0-9_-]+", fresh.text)
    assert (await admin.form("/auth/clients/shop/enabled", enabled="false")).status_code == 303
    assert (await admin.get(f"{API}/clients/shop")).json()["disabled_at"]
    assert (await admin.form("/auth/clients/routeloom-portal", name="x")).status_code == 409


async def test_keys_are_rotated_and_forgotten(house: House, admin: Person) -> None:
    first = (await house.visitor().get("/auth/jwks.json")).json()["keys"]
    page = await admin.page("/auth/signing-keys")
    assert all(key["kid"][:12] in page.text for key in first)
    young = await admin.form("/auth/signing-keys/rotate")
    assert young.status_code == 409
    assert (await admin.form("/auth/signing-keys/rotate", insist="true")).status_code == 303
    now_published = (await house.visitor().get("/auth/jwks.json")).json()["keys"]
    assert len(now_published) == len(first) + 2
    assert (await admin.form(f"/auth/signing-keys/{first[0]['kid']}/retire")).status_code == 303
    left = {key["kid"] for key in (await house.visitor().get("/auth/jwks.json")).json()["keys"]}
    assert first[0]["kid"] not in left
    assert {"signing_keys.rotated", "signing_key.retired"} <= set(await house.actions())


async def test_o9_the_trail_is_read_and_filtered(house: House, admin: Person) -> None:
    await admin.step_up()
    page = await admin.page("/auth/audit")
    assert "session.stepped_up" in page.text
    assert "account.created" in page.text
    narrowed = await admin.page("/auth/audit?action=account.")
    assert "session.stepped_up" not in narrowed.text
    assert (await admin.page("/auth/audit?cursor=nonsense")).status_code == 422
    assert (await admin.page("/auth/audit?actor=%00")).status_code == 422


async def test_only_administrators_see_these(house: House) -> None:
    viewer = await house.person("vic")
    for path in ("/auth/clients", "/auth/clients/new", "/auth/signing-keys", "/auth/audit"):
        assert (await viewer.page(path)).status_code == 403
    for path in ("/auth/clients/new", "/auth/signing-keys/rotate"):
        assert (await viewer.form(path)).status_code == 403


async def test_letting_programs_in_wants_a_fresh_passkey(house: House, admin: Person) -> None:
    from datetime import timedelta

    house.clock.turn(timedelta(minutes=6))
    for path in ("/auth/clients/new", "/auth/signing-keys/rotate", "/auth/account/proofs"):
        answer = await admin.form(path, subject="FOO-MNT")
        assert answer.status_code == 303, path
        assert answer.headers["location"].startswith("/auth/step-up")
