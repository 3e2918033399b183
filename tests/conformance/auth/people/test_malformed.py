"""Two hundred malformed bodies on each database: refused, never a failure of ours. Row N13."""

import json
import random
from typing import Any

from shared.kernel.principal import Role
from tests.conformance.auth.people.house import API, House, Person

BODIES = 200
JSON = {"Content-Type": "application/json"}
JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "=",
    "AAAA",
    "A" * 100_000,
    "é",
    "\x00",
    "\ud800",
    [],
    ["a"],
    {},
    {"a": {"b": []}},
    "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg",
    "/////w",
    "gICAgICAgICAgICA",
    "n5+fn5+fn5+fn5+fn5+fn5+f".replace("+", "-"),
    "W1tbW1tbW1tbW1tbW1tbW1tb",
]


def spoilt(body: dict[str, Any], dice: random.Random) -> Any:
    """The body with one value, somewhere, replaced, removed or cut."""
    copy = json.loads(json.dumps(body))
    place = copy
    while True:
        key = dice.choice(sorted(place))
        if not place[key] or not isinstance(place[key], dict) or dice.random() < 0.2:
            break
        place = place[key]
    act = dice.randrange(4)
    if act == 0:
        del place[key]
    elif act == 1 and isinstance(place[key], str):
        place[key] = place[key][: dice.randrange(len(place[key]) or 1)]
    elif act == 2 and isinstance(place[key], str) and place[key]:
        at = dice.randrange(len(place[key]))
        place[key] = place[key][:at] + dice.choice("AZaz09_-") + place[key][at + 1 :]
    else:
        place[key] = dice.choice(JUNK)
    return copy


async def test_n13_two_hundred_malformed_answers_are_refused(house: House) -> None:
    seed = house.resources.database.dialect
    dice = random.Random(seed)  # noqa: S311 - the same bodies every time, others on each database
    people = [await house.person(f"person{number}") for number in range(2)]
    statuses: dict[int, int] = {}
    for turn in range(BODIES):
        person = people[turn % 2]
        person.address = f"198.51.100.{turn}"
        path, body = await good_body(person, turn % 3)
        content = json.dumps(spoilt(body, dice))
        answer = await person.send("POST", f"{API}/{path}", content=content, headers=JSON)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, (path, answer.text)
        assert answer.headers["content-type"].startswith(("application/json", "application/problem+json"))
    # What is cut from a part that nobody reads may still be right.
    assert sum(count for status, count in statuses.items() if status >= 400) > BODIES * 0.8


async def good_body(person: Person, kind: int) -> tuple[str, dict[str, Any]]:
    if kind == 0:
        return "sign-in", await person.assertion()
    if kind == 1:
        return "step-up", await person.assertion(path="step-up")
    begun = await person.begin("passkeys")
    credential = person.authenticator.create(begun["options"])
    person.authenticator.credentials.pop()
    return "passkeys", {"ceremony": begun["ceremony"], "credential": credential}


async def test_n13_bodies_that_are_no_json_are_refused(ada: Person) -> None:
    for content in (
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 50_000,
        b"null",
        b"[]",
        b'"a"',
        b'{"a":1}' * 2,
        b"A" * 2_000_000,
    ):
        for path in ("sign-in", "sign-in/options", "step-up", "passkeys", "recovery", "invitations/accept"):
            answer = await ada.send("POST", f"{API}/{path}", content=content, headers=JSON)
            assert 400 <= answer.status_code < 500, (path, content[:20], answer.text)


async def test_n13_a_length_that_no_bytes_have_is_refused(ada: Person) -> None:
    for field in ("id", "rawId", "clientDataJSON", "authenticatorData", "signature", "userHandle"):
        body = await ada.assertion()
        place = body["credential"] if field in body["credential"] else body["credential"]["response"]
        place[field] = "AAAAA"
        assert (await ada.post(f"{API}/sign-in", body)).status_code == 422, field


async def test_n13_a_refusal_repeats_nothing_of_the_body(ada: Person) -> None:
    body = {"ceremony": "<svg>", "credential": {"id": "<svg onload=1>"}}
    assert "<svg" not in (await ada.post(f"{API}/sign-in", body)).text


async def test_n13_addresses_with_any_character_are_refused(house: House) -> None:
    admin = await house.person("root", Role.ADMIN)
    for part in ("%00", "%ff", "%ed%a0%80", "..%2f", "%F0%9F%A7%B5", "x" * 3000):
        for method, path in (
            ("DELETE", f"{API}/invitations/{part}"),
            ("GET", f"{API}/accounts/{part}"),
            ("DELETE", f"{API}/sessions/{part}"),
            ("DELETE", f"{API}/passkeys/{part}"),
            ("GET", f"/auth/invitations/{part}"),
            ("GET", f"/auth/account/passkeys/{part}"),
            ("GET", f"{API}/audit?actor={part}&action={part}"),
            ("GET", f"/auth/sign-in?next={part}"),
            ("POST", f"/auth/accounts/invitations/{part}/withdraw"),
        ):
            answer = await admin.send(method, path, json={})
            assert answer.status_code < 500, (method, path, answer.text)
