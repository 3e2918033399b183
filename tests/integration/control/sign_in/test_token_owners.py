"""Personal access tokens of people follow what their owner may do now, on every worker."""

import secrets
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from auth_server.accounts.models import Account
from control_server.access import ControlAuthenticator
from shared.kernel.principal import Role
from tests.integration.control.sign_in.house import House, Surfer

pytestmark = pytest.mark.asyncio(loop_scope="package")
SCOPES = ["fleet:read", "fleet:write", "audit:read"]


async def owner(house: House, role: Role = Role.ADMIN) -> tuple[Account, Surfer]:
    account = await house.account(role)
    surfer = await house.known_there(account)
    assert (await surfer.sign_in()).status_code == 303
    return account, surfer


async def token_of(surfer: Surfer, scopes: list[str]) -> str:
    headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in surfer.cookies.items()), "Origin": surfer.origin}
    headers["X-CSRF-Token"] = surfer.cookies["__Host-rl_csrf"]
    wanted: dict[str, Any] = {"name": "script", "scopes": scopes}
    made = await surfer.http.post(f"{surfer.origin}/api/v1/tokens", json=wanted, headers=headers)
    assert made.status_code == 201, made.text
    text: str = made.json()["token"]
    return text


async def change(house: House, account: Account, **values: Any) -> None:
    """As the sign-in service itself would, without telling anybody."""
    async with house.auth.database.transaction() as session:
        await session.execute(update(Account).where(Account.id == account.id).values(values))


async def test_a_lost_role_is_lost_within_a_second_and_comes_back(any_house: House) -> None:
    house = any_house
    account, surfer = await owner(house)
    token = await token_of(surfer, SCOPES)
    assert (await house.api(token, "/api/v1/audit")).status_code == 200
    await change(house, account, role=Role.VIEWER)
    house.clock.turn(timedelta(seconds=1))
    assert (await house.api(token, "/api/v1/audit")).status_code == 403
    assert (await house.api(token)).status_code == 200
    await change(house, account, role=Role.ADMIN)
    house.clock.turn(timedelta(seconds=1))
    assert (await house.api(token, "/api/v1/audit")).status_code == 200


async def test_a_higher_role_widens_no_token(house: House) -> None:
    account, surfer = await owner(house, Role.VIEWER)
    token = await token_of(surfer, ["fleet:read"])
    await change(house, account, role=Role.ADMIN)
    house.clock.turn(timedelta(seconds=1))
    assert (await house.api(token)).status_code == 200
    assert (await house.api(token, "/api/v1/audit")).status_code == 403


async def test_a_disabled_owner_is_shut_out_and_counts_as_no_guess(house: House) -> None:
    account, surfer = await owner(house)
    token = await token_of(surfer, SCOPES)
    await change(house, account, disabled_at=house.clock())
    house.clock.turn(timedelta(seconds=1))
    for _ in range(12):
        refused = await house.api(token)
        assert (refused.status_code, refused.json()["code"]) == (401, "api_token_owner_shut_out")
    await change(house, account, disabled_at=None)
    house.clock.turn(timedelta(seconds=1))
    assert (await house.api(token)).status_code == 200


async def test_every_worker_asks_for_itself(house: House) -> None:
    account, surfer = await owner(house)
    token = await token_of(surfer, SCOPES)
    workers = [ControlAuthenticator(house.control) for _ in range(2)]
    for worker in workers:
        found = await worker.standing.of_now(await worker.gate.admit(token, "192.0.2.9"))
        assert found.role is Role.ADMIN
    await change(house, account, role=Role.OPERATOR)
    house.clock.turn(timedelta(seconds=1))
    for worker in workers:
        found = await worker.standing.of_now(await worker.gate.admit(token, "192.0.2.9"))
        assert found.role is Role.OPERATOR


async def test_with_the_sign_in_service_away_a_checked_token_stays_good_for_a_while(own_house: House) -> None:
    house = own_house
    _, surfer = await owner(house)
    seen, (_, other) = await token_of(surfer, SCOPES), await owner(house)
    unseen = await token_of(other, SCOPES)
    assert (await house.api(seen)).status_code == 200
    await house.inner.stop()
    house.clock.turn(timedelta(seconds=2))
    assert (await house.api(seen)).status_code == 200
    house.clock.turn(timedelta(seconds=2))
    refused = await house.api(unseen)
    assert (refused.status_code, refused.json()["code"]) == (503, "auth_unavailable")
    local_admin = (house.control.settings.state_directory / "admin-token").read_text().strip()
    assert (await house.api(local_admin)).status_code == 200, "a service has no account there"
    house.clock.turn(timedelta(minutes=5))
    assert (await house.api(seen)).status_code == 503


async def test_only_our_own_services_are_told(house: House) -> None:
    account = await house.account(Role.OPERATOR)
    asked = f"{house.origin}/auth/standing"
    secret = house.control.settings.client_secret_file.read_text().strip()
    ours, form = ("routeloom-portal", secret), {"sub": str(account.id)}
    said = (await house.http.post(asked, data=form, auth=ours)).json()
    assert said == {"active": True, "sub": str(account.id), "username": account.name, "role": "operator"}
    for subject in ("nobody", secrets.token_hex(16)):
        assert (await house.http.post(asked, data={"sub": subject}, auth=ours)).json() == {"active": False}
    assert (await house.http.post(asked, data=form)).status_code in {400, 401}
    wrong = ("routeloom-portal", "x" * 43)
    assert (await house.http.post(asked, data=form, auth=wrong)).status_code == 401
