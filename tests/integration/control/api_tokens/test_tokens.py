"""Access tokens from the first look to the last: who makes them, what they allow, when they end."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

from control_server.api_tokens.dependencies import token_gate
from control_server.api_tokens.models import ApiToken
from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.schemas import ApiTokenCreate
from control_server.api_tokens.service import ApiTokenService
from control_server.audit.dependencies import audit_service
from shared.kernel.errors import InvalidInput
from shared.kernel.principal import Principal, PrincipalKind, Role, Scope
from tests.integration.control.conftest import CSRF, signed_in
from tests.integration.control.enrolment.office import Office

VIEWER = Principal.of_role("person:vera", PrincipalKind.PERSON, "Vera", Role.VIEWER)


async def made(office: Office, *scopes: str, **wanted: Any) -> dict[str, Any]:
    body = {"name": "backup job", "scopes": scopes or ["fleet:read"], **wanted}
    answer = await office.outside.post("/api/v1/tokens", json=body, headers=await signed_in(office))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def bearer(token: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {token['token']}"}


class TestCreate:
    async def test_shows_the_secret_once_and_keeps_a_hash(self, on_each_database: Office) -> None:
        office = on_each_database
        token = await made(office)
        assert re.fullmatch(r"rlp_[0-9a-z]{12}_[\w-]{43}", token["token"])
        listed = await office.outside.get("/api/v1/tokens", headers=await signed_in(office))
        assert token["token_id"] in listed.text
        secret = token["token"].split("_", 2)[2]
        assert secret not in listed.text
        async with office.resources.database.reading() as session:
            rows = [tuple(row) for row in await session.execute(text("SELECT * FROM api_tokens"))]
        assert token["token_id"] in str(rows)
        assert secret not in str(rows)

    async def test_a_token_does_what_its_scopes_say_and_no_more(self, on_each_database: Office) -> None:
        office = on_each_database
        token = await made(office, "fleet:read")
        assert (await office.outside.get("/api/v1/nodes", headers=bearer(token))).status_code == 200
        refused = await office.outside.post("/api/v1/nodes", json={"node_id": "r1"}, headers=bearer(token))
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")

    async def test_a_token_makes_no_other_token(self, lite: Office) -> None:
        token = await made(lite, "fleet:write")
        for method, path in (
            ("GET", "/api/v1/tokens"),
            ("POST", "/api/v1/tokens"),
            ("DELETE", f"/api/v1/tokens/{token['token_id']}"),
            ("POST", f"/api/v1/tokens/{token['token_id']}/rotate"),
        ):
            body = {"name": "more", "scopes": ["fleet:read"]} if path.endswith("tokens") else None
            answer = await lite.outside.request(method, path, json=body, headers=bearer(token))
            assert (answer.status_code, answer.json()["code"]) == (403, "session_required")

    async def test_the_token_of_an_administrator_makes_tokens_within_its_own_scopes(
        self, lite: Office
    ) -> None:
        limited = await made(lite, "access:admin", "fleet:read")
        body = {"name": "child", "scopes": ["fleet:read"]}
        answer = await lite.outside.post("/api/v1/tokens", json=body, headers=bearer(limited))
        assert answer.status_code == 201
        body["scopes"] = ["fleet:read", "fleet:write"]
        answer = await lite.outside.post("/api/v1/tokens", json=body, headers=bearer(limited))
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["code"] == "scope_beyond_role"

    async def test_nobody_gives_away_more_than_their_role_has(self, lite: Office) -> None:
        now = lite.resources.now
        async with lite.resources.database.transaction() as session:
            service = ApiTokenService(ApiTokenRepository(session), now)
            wanted = ApiTokenCreate(name="too much", scopes=[Scope.FLEET_READ, Scope.ACCESS_ADMIN])
            with pytest.raises(InvalidInput, match="access:admin"):
                await service.create(VIEWER, wanted, audit_service(session, now))

    @pytest.mark.parametrize(
        "changes",
        [
            {"name": " "},
            {"name": "x" * 61},
            {"name": "x\0y"},
            {"name": "two\nlines"},
            {"scopes": []},
            {"scopes": ["root"]},
            {"expires_in": 59},
            {"expires_in": 366 * 86_400 + 1},
            {"owner": "someone"},
        ],
    )
    async def test_names_what_is_not_acceptable(self, lite: Office, changes: dict[str, Any]) -> None:
        body = {"name": "n", "scopes": ["fleet:read"], **changes}
        answer = await lite.admin.post("/api/v1/tokens", json=body)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"].split(".")[0] == next(iter(changes))

    async def test_a_browser_needs_the_form_token(self, lite: Office) -> None:
        headers = await signed_in(lite)
        headers["X-CSRF-Token"] = CSRF[::-1].upper()
        body = {"name": "n", "scopes": ["fleet:read"]}
        answer = await lite.outside.post("/api/v1/tokens", json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")

    async def test_step_up_is_asked_before_writes_only(self, lite: Office) -> None:
        asked: list[str] = []

        async def step_up(connection: Any, principal: Principal) -> None:
            asked.append(connection.scope["method"])

        lite.app.state.step_up = step_up
        await made(lite)
        await lite.outside.get("/api/v1/tokens", headers=await signed_in(lite))
        assert asked == ["POST"]


class TestEnd:
    async def test_rotating_replaces_the_secret_once(self, on_each_database: Office) -> None:
        office = on_each_database
        old = await made(office, "fleet:read", expires_in=3600)
        office.clock.turn(timedelta(minutes=30))
        path = f"/api/v1/tokens/{old['token_id']}/rotate"
        answer = await office.outside.post(path, headers=await signed_in(office))
        assert answer.status_code == 201
        fresh = answer.json()
        assert (fresh["name"], fresh["scopes"]) == (old["name"], old["scopes"])
        office.clock.turn(timedelta(minutes=59))
        assert (await office.outside.get("/api/v1/nodes", headers=bearer(fresh))).status_code == 200
        assert (await office.outside.get("/api/v1/nodes", headers=bearer(old))).status_code == 401
        again = await office.outside.post(path, headers=await signed_in(office))
        assert (again.status_code, again.json()["code"]) == (409, "api_token_ended")
        assert (await office.actions()).count("api_token.rotated") == 1

    async def test_revoking_ends_it_at_once(self, on_each_database: Office) -> None:
        office = on_each_database
        token = await made(office)
        path = f"/api/v1/tokens/{token['token_id']}"
        assert (await office.outside.delete(path, headers=await signed_in(office))).status_code == 204
        refused = await office.outside.get("/api/v1/nodes", headers=bearer(token))
        assert (refused.status_code, refused.json()["code"]) == (401, "api_token_refused")
        assert (await office.outside.delete(path, headers=await signed_in(office))).status_code == 409

    async def test_it_expires(self, lite: Office) -> None:
        token = await made(lite, expires_in=3600)
        lite.clock.turn(timedelta(seconds=3600))
        assert (await lite.outside.get("/api/v1/nodes", headers=bearer(token))).status_code == 401
        listed = (await lite.outside.get("/api/v1/tokens", headers=await signed_in(lite))).json()
        assert [row["state"] for row in listed] == ["expired"]

    async def test_a_token_of_somebody_else_is_not_there(self, lite: Office) -> None:
        now = lite.resources.now
        token = await made(lite)
        async with lite.resources.database.transaction() as session:
            service = ApiTokenService(ApiTokenRepository(session), now)
            for act in (service.revoke, service.rotate):
                with pytest.raises(Exception, match="no access token") as refusal:
                    await act(VIEWER, token["token_id"], audit_service(session, now))
                assert refusal.type.__name__ == "ApiTokenNotFound"

    async def test_administrators_see_and_revoke_all(self, lite: Office) -> None:
        token = await made(lite)
        rows = (await lite.admin.get("/api/v1/tokens/all")).json()
        assert {row["owner_name"] for row in rows} == {"local-admin", "host operator"}
        assert [row["owner_name"] for row in (await lite.admin.get("/api/v1/tokens")).json()] == [
            "local-admin"
        ]
        assert (await lite.admin.delete(f"/api/v1/tokens/{token['token_id']}")).status_code == 204
        reader = await made(lite, "fleet:read")
        assert (await lite.outside.get("/api/v1/tokens/all", headers=bearer(reader))).status_code == 403


class TestUse:
    async def test_the_last_use_is_written_once_in_five_minutes(self, on_each_state: Office) -> None:
        office = on_each_state
        token = await made(office)
        began = office.clock.at
        for _ in range(3):
            await office.outside.get("/api/v1/nodes", headers=bearer(token))
            office.clock.turn(timedelta(seconds=10))
        assert await last_use(office, token) == began

    async def test_without_the_key_one_more_update_is_written(self, on_each_state: Office) -> None:
        office = on_each_state
        token = await made(office)
        await office.outside.get("/api/v1/nodes", headers=bearer(token))
        office.clock.turn(timedelta(seconds=10))
        await office.resources.runtime_state.delete(f"pat:last_used_throttle:{token['token_id']}")
        await office.outside.get("/api/v1/nodes", headers=bearer(token))
        assert await last_use(office, token) == office.clock.at

    async def test_a_scope_that_no_longer_exists_gives_nothing(self, lite: Office) -> None:
        token = await made(lite, "fleet:read")
        async with lite.resources.database.transaction() as session:
            row = await session.scalar(select(ApiToken).where(ApiToken.id == token["token_id"]))
            assert row is not None
            row.scopes = ["fleet:read", "fleet:fly"]
        who = await token_gate(lite.resources).admit(token["token"], "192.0.2.1")
        assert who.scopes == {Scope.FLEET_READ}


async def last_use(office: Office, token: dict[str, Any]) -> Any:
    async with office.resources.database.reading() as session:
        return await session.scalar(select(ApiToken.last_used_at).where(ApiToken.id == token["token_id"]))
