"""Registrations that no page should show, no address reaches or no database keeps: told by field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from joserfc.jwk import ECKey

from shared.kernel.principal import Role
from tests.conformance.auth.people.house import API, House

JSON = {"Content-Type": "application/json"}
SHOP = {"client_id": "shop", "name": "Shop", "redirect_uris": ["https://shop.example/cb"]}
REFUSED: list[tuple[str, list[Any]]] = [
    ("name", ["a\x00b", "a\u202eb", "   ", "a\nb", "\ud800", "x" * 81, 5]),
    ("client_id", [" ", " a", "..", "new", "a/secret", "a/enabled", "ä", "x" * 129]),
    ("audiences", [["\x00"], ["a b"], ["x" * 513]]),
    ("scopes", [["\x00"], ["openid"] * 65]),
    ("grant_types", [["authorization_code"] * 9, ["password"]]),
    ("redirect_uris", [["https://[::1"], ["https://a.example:99999/"], ["https://a.example/" + "x" * 9000]]),
    ("backchannel_logout_uri", ["\x00", "http://[::1"]),
]
#: Members of a key beside those that make it one.
MEMBERS: list[Any] = [float("nan"), 10**400, "\x00", "\ud800", {}, [[]], "x" * 9000]


@pytest.mark.parametrize(("field", "values"), REFUSED)
async def test_a_registration_is_refused_by_field(house: House, field: str, values: list[Any]) -> None:
    admin = await house.person("root", Role.ADMIN)
    for value in values:
        body = json.dumps({**SHOP, field: value})
        answer = await admin.send("POST", f"{API}/clients", content=body, headers=JSON)
        assert answer.status_code == 422, (value, answer.text)
        assert answer.json()["errors"][0]["field"].startswith(field), answer.text


async def test_a_key_has_members_that_can_be_kept(house: House) -> None:
    admin = await house.person("root", Role.ADMIN)
    key = ECKey.generate_key("P-256").as_dict(private=False)
    for member in MEMBERS:
        body = json.dumps({**SHOP, "public_keys": [{**key, "more": member}]})
        answer = await admin.send("POST", f"{API}/clients", content=body, headers=JSON)
        assert answer.status_code == 422, (member, answer.text)
    usual = {**key, "ext": True, "key_ops": ["verify"], "use": "sig", "kid": "k1"}
    assert (await admin.post(f"{API}/clients", {**SHOP, "public_keys": [usual]})).status_code == 201


@pytest.mark.parametrize("client_id", ["https://shop.example/meta", "a b", "shop.one", "a/secrets"])
async def test_an_id_leads_to_its_page(house: House, client_id: str) -> None:
    admin = await house.person("root", Role.ADMIN)
    assert (await admin.post(f"{API}/clients", {**SHOP, "client_id": client_id})).status_code == 201
    page = await admin.page(f"/auth/clients/{client_id.replace('/', '%2F')}")
    assert page.status_code == 200
    assert client_id in page.text


@pytest.mark.parametrize("part", ["%00", "%ff", "%F0%9F%A7%B5", "a%0d%0ab", "x" * 3000])
async def test_no_address_of_the_administration_fails(house: House, part: str) -> None:
    admin = await house.person("root", Role.ADMIN)
    for method, path in (
        ("GET", f"/auth/clients/{part}"),
        ("POST", f"/auth/clients/{part}/secret"),
        ("PATCH", f"{API}/clients/{part}"),
        ("POST", f"/auth/signing-keys/{part}/retire"),
        ("DELETE", f"{API}/applications?client_id={part}"),
        ("GET", f"/auth/device?user_code={part}"),
        ("GET", f"/auth/audit?cursor={part}"),
        ("GET", f"/auth/authorize?client_id={part}"),
        ("GET", f"/auth/logout?id_token_hint={part}&client_id={part}&state={part}"),
        ("GET", f"/auth/account/proofs/{part}"),
    ):
        answer = await admin.send(method, path, json={})
        assert answer.status_code < 500, (method, path, answer.text)
