"""Access tokens of services, and tokens that are bound to a key, at the API. Rows J3 and M5."""

import asyncio
import secrets
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from auth_server.clients.dependencies import client_service
from auth_server.clients.schemas import ClientRegistration
from auth_server.clients.store import FailedSecrets
from tests.conformance.auth.provider.keys import Holder
from tests.integration.control.sign_in.house import House

pytestmark = pytest.mark.asyncio(loop_scope="package")

NODES, TOKENS = "/api/v1/nodes", "/api/v1/enrolment-tokens"


async def service(house: House, role: str = "operator") -> dict[str, str]:
    """A client that acts on its own."""
    who = {"client_id": f"svc-{secrets.token_hex(4)}", "client_secret": secrets.token_hex(16)}
    wanted = ClientRegistration.model_validate(
        {
            "client_id": who["client_id"],
            "name": "Billing",
            "grant_types": ["client_credentials"],
            "role": role,
            "scopes": ["fleet:read", "fleet:write", "access:admin"],
        }
    )
    async with house.auth.database.transaction() as session:
        await client_service(house.auth, session, FailedSecrets()).register(wanted, who["client_secret"])
    return who


async def token_of(house: House, who: dict[str, str], holder: Holder | None = None) -> str:
    address = f"{house.origin}/auth/token"
    headers = holder.proof("POST", address, house.clock()) if holder else {}
    form = {"grant_type": "client_credentials", **who}
    answer = await house.http.post(address, data=form, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["access_token"])


async def api(house: House, scheme: str, token: str, headers: Any, path: str = NODES) -> httpx2.Response:
    sent = [
        ("Authorization", f"{scheme} {token}"),
        *(headers.items() if isinstance(headers, dict) else headers),
    ]
    return await house.http.get(f"{house.origin}{path}", headers=sent)


async def test_j3_a_service_is_let_in_as_itself(any_house: House) -> None:
    house = any_house
    token = await token_of(house, await service(house, "admin"))
    assert (await house.api(token)).status_code == 200
    made = await house.http.post(
        f"{house.origin}{TOKENS}", json={}, headers={"Authorization": f"Bearer {token}"}
    )
    assert made.status_code == 201
    row = (await house.rows("SELECT actor_id, actor_kind FROM audit_events ORDER BY id DESC"))[0]
    assert row.actor_id.startswith("client:svc-")
    assert row.actor_kind == "service"


async def test_j3_a_service_has_its_role_and_no_more(house: House) -> None:
    who = await service(house, "viewer")
    token = await token_of(house, who)
    assert (await house.api(token, "/api/v1/audit")).status_code == 403
    revoked = await house.http.post(f"{house.origin}/auth/revoke", data={**who, "token": token})
    assert revoked.status_code == 200
    house.clock.turn(timedelta(seconds=1))
    assert (await house.api(token)).status_code == 401


async def test_m5_a_bound_token_needs_its_key(house: House) -> None:
    holder = Holder()
    token = await token_of(house, await service(house), holder)
    address = f"{house.origin}{NODES}"
    proof = holder.proof("GET", address, house.clock(), token)
    assert (await api(house, "DPoP", token, proof)).status_code == 200
    refused = [
        await api(house, "Bearer", token, {}),
        await api(house, "Bearer", token, holder.proof("GET", address, house.clock(), token)),
        await api(house, "DPoP", token, {}),
        await api(house, "DPoP", token, proof),
        await api(house, "DPoP", token, Holder().proof("GET", address, house.clock(), token)),
        await api(house, "DPoP", token, holder.proof("POST", address, house.clock(), token)),
        await api(house, "DPoP", token, holder.proof("GET", f"{house.origin}/other", house.clock(), token)),
        await api(house, "DPoP", token, holder.proof("GET", address, house.clock())),
        await api(
            house,
            "DPoP",
            token,
            [("DPoP", holder.proof("GET", address, house.clock(), token)["DPoP"]) for _ in range(2)],
        ),
    ]
    assert {answer.status_code for answer in refused} == {401}


async def test_m5_a_plain_token_comes_with_no_proof(house: House) -> None:
    token = await token_of(house, await service(house))
    proof = Holder().proof("GET", f"{house.origin}{NODES}", house.clock(), token)
    assert (await api(house, "DPoP", token, proof)).status_code == 401
    assert (await api(house, "DPoP", "rlp_x", proof)).status_code == 401
    assert (await house.api(token)).status_code == 200


async def test_m4_a_proof_is_used_once_also_in_parallel(house: House) -> None:
    holder = Holder()
    token = await token_of(house, await service(house), holder)
    proof = holder.proof("GET", f"{house.origin}{NODES}", house.clock(), token)
    answers = await asyncio.gather(*(api(house, "DPoP", token, proof) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200, *[401] * 7]
