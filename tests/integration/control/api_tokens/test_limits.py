"""Limits of access tokens: counted right, ended by themselves, and no obstacle when the store is away."""

import asyncio
import logging
import secrets
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from control_server.api_tokens.dependencies import token_gate
from control_server.api_tokens.errors import ApiTokenLockedOut, ApiTokenRefused, ApiTokenThrottled
from control_server.api_tokens.service import TokenGate
from control_server.settings import ApiTokenSettings
from shared.runtime_state import create_runtime_state_client
from shared.testing.servers import KeyValueServer, valkey_server
from tests.integration.control.api_tokens.test_tokens import bearer, made
from tests.integration.control.enrolment.office import Office

STRANGER = "192.0.2.7"


def wrong() -> str:
    return f"rlp_{secrets.token_hex(6)}_{'x' * 43}"


@pytest.fixture
def gate(on_each_state: Office) -> TokenGate:
    return token_gate(on_each_state.resources)


async def outcome(gate: TokenGate, text: str, address: str = STRANGER) -> str:
    try:
        await gate.admit(text, address)
    except (ApiTokenRefused, ApiTokenLockedOut, ApiTokenThrottled) as refusal:
        return refusal.code
    return "admitted"


class TestRequests:
    async def test_one_too_many_is_throttled_and_told_when_to_come_back(self, on_each_state: Office) -> None:
        office = on_each_state
        office.app.state.authenticate.gate.limits.settings = ApiTokenSettings(requests_per_minute=3)
        token = await made(office)
        for _ in range(3):
            assert (await office.outside.get("/api/v1/nodes", headers=bearer(token))).status_code == 200
        answer = await office.outside.get("/api/v1/nodes", headers=bearer(token))
        assert (answer.status_code, answer.json()["code"]) == (429, "api_token_throttled")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        other = await made(office)
        assert (await office.outside.get("/api/v1/nodes", headers=bearer(other))).status_code == 200

    async def test_a_cut_between_counting_and_its_end_heals_at_the_next_attempt(
        self, gate: TokenGate, on_each_state: Office
    ) -> None:
        token = await made(on_each_state)
        state = on_each_state.resources.runtime_state
        key = f"pat:rate_limit:{token['token_id']}"
        await state.incr(key)
        assert await state.ttl(key) == -1
        assert await outcome(gate, token["token"]) == "admitted"
        assert 0 < await state.ttl(key) <= 60
        assert await state.get(key) == b"2"


class TestFailures:
    async def test_two_hundred_at_once_lock_once_and_count_right(
        self, gate: TokenGate, on_each_state: Office
    ) -> None:
        state = on_each_state.resources.runtime_state
        with capture_logs() as logs:
            seen = await asyncio.gather(*(outcome(gate, wrong()) for _ in range(200)))
        counted = int(await state.get(f"pat:auth_fail:{STRANGER}") or 0)
        assert counted == seen.count("api_token_refused") >= 10
        assert set(seen) <= {"api_token_refused", "api_token_locked_out"}
        assert [entry["event"] for entry in logs].count("api_token_source_locked_out") == 1
        assert 890 < await state.ttl(f"pat:lockout:{STRANGER}") <= 900
        assert await outcome(gate, wrong()) == "api_token_locked_out"

    async def test_the_lockout_is_told_ends_and_concerns_one_source(
        self, gate: TokenGate, on_each_state: Office
    ) -> None:
        token = await made(on_each_state)
        state = on_each_state.resources.runtime_state
        for _ in range(9):
            assert await outcome(gate, "rlp_nonsense") == "api_token_refused"
        assert await outcome(gate, token["token"]) == "admitted"
        assert await outcome(gate, wrong()) == "api_token_refused"
        with pytest.raises(ApiTokenLockedOut) as refusal:
            await gate.admit(token["token"], STRANGER)
        assert refusal.value.retry_after is not None
        assert timedelta(seconds=890) < refusal.value.retry_after <= timedelta(seconds=900)
        assert await outcome(gate, token["token"], "192.0.2.8") == "admitted"
        await state.expire(f"pat:lockout:{STRANGER}", 0)
        assert await outcome(gate, token["token"]) == "admitted"

    async def test_a_cut_between_counting_and_its_end_locks_nobody_out_for_ever(
        self, gate: TokenGate, on_each_state: Office
    ) -> None:
        state = on_each_state.resources.runtime_state
        key = f"pat:auth_fail:{STRANGER}"
        await state.incr(key)
        assert await outcome(gate, wrong()) == "api_token_refused"
        assert 0 < await state.ttl(key) <= 60

    async def test_wiping_the_state_in_the_middle_changes_no_answer(
        self, gate: TokenGate, on_each_state: Office
    ) -> None:
        token = await made(on_each_state)
        state = on_each_state.resources.runtime_state
        names = (f"pat:rate_limit:{token['token_id']}", f"pat:last_used_throttle:{token['token_id']}")
        for _ in range(4):
            assert await outcome(gate, token["token"]) == "admitted"
            assert await outcome(gate, wrong()) == "api_token_refused"
            await state.delete(*names, f"pat:auth_fail:{STRANGER}", f"pat:lockout:{STRANGER}")

    async def test_the_answer_over_http_says_when_to_come_back(self, lite: Office) -> None:
        headers = {"Authorization": f"Bearer {wrong()}"}
        for _ in range(10):
            assert (await lite.outside.get("/api/v1/nodes", headers=headers)).status_code == 401
        answer = await lite.outside.get("/api/v1/nodes", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (429, "api_token_locked_out")
        assert int(answer.headers["retry-after"]) > 800


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[KeyValueServer]:
    """A server that this test may kill."""
    with valkey_server(tmp_path / "mortal") as server:
        yield server


async def test_a_store_that_dies_lets_good_tokens_in_and_bad_ones_not(
    lite: Office, mortal: KeyValueServer
) -> None:
    token = await made(lite)
    state = create_runtime_state_client(
        f"{mortal.url}/7", prefix="limits:", deadline=timedelta(milliseconds=200)
    )
    gate = token_gate(lite.resources)
    gate.limits.state = state
    try:
        assert await outcome(gate, token["token"]) == "admitted"
        mortal.stop()
        with capture_logs() as logs:
            seen = await asyncio.gather(*(outcome(gate, token["token"]) for _ in range(20)))
            assert await outcome(gate, wrong()) == "api_token_refused"
        assert seen == ["admitted"] * 20
        assert "api_token_limits_unavailable" in [entry["event"] for entry in logs]
    finally:
        await state.aclose()


async def test_while_the_store_is_away_the_use_is_noted_by_sqls_own_instant(
    lite: Office, mortal: KeyValueServer
) -> None:
    token = await made(lite)
    gate = token_gate(lite.resources)
    gate.limits.state = create_runtime_state_client(f"{mortal.url}/7", prefix="limits:")
    mortal.stop()
    assert await gate.limits.use_is_due("any", None)
    assert not await gate.limits.use_is_due("any", lite.clock.at - timedelta(seconds=299))
    assert await gate.limits.use_is_due("any", lite.clock.at - timedelta(seconds=300))
    assert await outcome(gate, token["token"]) == "admitted"
    await gate.limits.state.aclose()


async def test_no_secret_is_in_any_log(lite: Office, caplog: pytest.LogCaptureFixture) -> None:
    planted = wrong()
    with caplog.at_level(logging.DEBUG), capture_logs() as logs:
        token = await made(lite)
        await lite.outside.get("/api/v1/nodes", headers=bearer(token))
        for _ in range(11):
            await lite.outside.get("/api/v1/nodes", headers={"Authorization": f"Bearer {planted}"})
        structlog.get_logger("test").info("seen")
    said = f"{logs} {caplog.text}"
    assert "seen" in said
    for text in (planted, token["token"]):
        assert text.split("_", 2)[2] not in said
