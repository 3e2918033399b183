"""Devices without a browser, over plain HTTP, on ours and on others."""

import asyncio
from typing import Any

import httpx2
import pytest

from tests.conformance.auth.targets.target import (
    DEVICE_GRANT,
    SCOPE,
    SET,
    TOOL,
    WALL,
    Client,
    Target,
    Visitor,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLIENTS = pytest.mark.parametrize("client", [SET, WALL], ids=["public", "confidential"])


async def begin(target: Target, client: Client) -> dict[str, Any]:
    answer = await target.call("device_authorization", client, {"scope": SCOPE, "prompt": "consent"})
    assert answer.status_code == 200, answer.text
    begun: dict[str, Any] = answer.json()
    return begun


async def poll(target: Target, client: Client, device_code: str) -> httpx2.Response:
    return await target.call("token", client, {"grant_type": DEVICE_GRANT, "device_code": device_code})


def error_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


@CLIENTS
async def test_l1_pending_and_then_given(target: Target, ada: Visitor, client: Client) -> None:
    begun = await begin(target, client)
    assert error_of(await poll(target, client, begun["device_code"])) == (400, "authorization_pending")
    await target.confirm_device(ada, begun["user_code"])
    for _ in range(6):
        target.tick()
    answer = await poll(target, client, begun["device_code"])
    assert answer.status_code == 200, answer.text
    assert answer.json().keys() >= {"access_token", "refresh_token", "id_token"}


async def test_l1_too_fast(target: Target) -> None:
    begun = await begin(target, SET)
    answers = [error_of(await poll(target, SET, begun["device_code"])) for _ in range(2)]
    assert answers == [(400, "authorization_pending"), (400, "slow_down")]


async def test_l1_the_person_refuses(target: Target, ada: Visitor) -> None:
    begun = await begin(target, SET)
    await target.confirm_device(ada, begun["user_code"], "deny")
    assert error_of(await poll(target, SET, begun["device_code"])) == (400, "access_denied")


async def test_l1_nobody_comes(target: Target) -> None:
    begun = await begin(target, SET)
    target.later(begun["expires_in"] + 1)
    assert error_of(await poll(target, SET, begun["device_code"])) == (400, "expired_token")


async def test_l1_unknown_and_foreign_codes(target: Target, ada: Visitor) -> None:
    begun = await begin(target, SET)
    await target.confirm_device(ada, begun["user_code"])
    for code in ("made-up", begun["user_code"]):
        assert error_of(await poll(target, SET, code)) == (400, "invalid_grant")
    assert error_of(await poll(target, WALL, begun["device_code"])) == (400, "invalid_grant")


async def test_l2_parallel_redemptions(target: Target, ada: Visitor) -> None:
    begun = await begin(target, SET)
    await target.confirm_device(ada, begun["user_code"])
    answers = await asyncio.gather(*(poll(target, SET, begun["device_code"]) for _ in range(20)))
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) <= {200, 400}
    assert statuses.count(200) <= 1
    target.tick()
    assert (await poll(target, SET, begun["device_code"])).status_code == 400


async def test_l3_a_secret_is_shown(target: Target, ada: Visitor) -> None:
    begun = await begin(target, WALL)
    await target.confirm_device(ada, begun["user_code"])
    form = {"grant_type": DEVICE_GRANT, "device_code": begun["device_code"], "client_id": target.id_of(WALL)}
    answer = await target.http.post(target.endpoint("token"), data=form)
    assert error_of(answer) == (401, "invalid_client")


async def test_l4_the_complete_address_confirms_nothing(target: Target, ada: Visitor) -> None:
    begun = await begin(target, SET)
    page = await ada.browser.get(begun["verification_uri_complete"])
    assert (page.status_code, "<form" in page.text) == (200, True)
    assert error_of(await poll(target, SET, begun["device_code"])) == (400, "authorization_pending")


async def test_l5_case_and_dashes(target: Target, ada: Visitor) -> None:
    begun = await begin(target, SET)
    await target.confirm_device(ada, begun["user_code"].replace("-", "").lower())
    assert (await poll(target, SET, begun["device_code"])).status_code == 200


async def test_d10_a_client_that_is_no_device(target: Target) -> None:
    answer = await target.call("device_authorization", TOOL, {"scope": SCOPE})
    assert error_of(answer) == (400, "unauthorized_client")
