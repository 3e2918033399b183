"""What a worker has read a moment ago, it believes for a second: then it knows what the other one changed."""

import secrets
from typing import Any

import httpx2
import pytest
from joserfc import jws

from auth_server.audit.dependencies import audit_service
from auth_server.clients.dependencies import client_administration
from auth_server.clients.schemas import ClientChange
from auth_server.signing_keys.dependencies import key_administration
from shared.kernel.principal import SYSTEM
from shared.testing.waiting import wait_until
from tests.conformance.auth.provider.provider import SHOP_SECRET, Provider
from tests.conformance.auth.workers.conftest import Workers

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVICE: dict[str, Any] = {
    "grant_types": ["client_credentials"],
    "redirect_uris": [],
    "scopes": ["fleet:read"],
}


async def serve(provider: Provider, client_id: str, secret: str = SHOP_SECRET) -> httpx2.Response:
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
    return await provider.http.post("/auth/token", data=form)


def kid_of(answer: httpx2.Response) -> str:
    """The id of the key that signed the access token."""
    return str(jws.extract_compact(answer.json()["access_token"].encode()).headers()["kid"])


async def known_to_both(workers: Workers) -> tuple[Provider, Provider, str]:
    """A service that both workers have just let in."""
    one, other = workers.one.provider, workers.other.provider
    client_id = f"svc-{secrets.token_hex(4)}"
    await one.register(client_id=client_id, role="operator", **SERVICE)
    for worker in (one, other):
        assert (await serve(worker, client_id)).status_code == 200
    return one, other, client_id


async def change(worker: Provider, client_id: str, **wanted: Any) -> None:
    async with worker.resources.database.transaction() as session:
        audit = audit_service(session, worker.clock)
        administration = client_administration(worker.resources, session, audit)
        await administration.change(SYSTEM, client_id, ClientChange(**wanted))


async def test_f6_a_client_that_is_shut_out_at_the_other_worker(workers: Workers) -> None:
    one, other, client_id = await known_to_both(workers)
    await change(one, client_id, enabled=False)
    assert (await serve(one, client_id)).status_code == 401, "where it was done it holds at once"

    async def refused() -> bool:
        return (await serve(other, client_id)).status_code == 401

    await wait_until(refused)
    await change(one, client_id, enabled=True)
    assert (await serve(one, client_id)).status_code == 200


async def test_f6_a_secret_that_is_renewed_at_the_other_worker(workers: Workers) -> None:
    one, other, client_id = await known_to_both(workers)
    async with one.resources.database.transaction() as session:
        audit = audit_service(session, one.clock)
        fresh = await client_administration(one.resources, session, audit).renew_secret(SYSTEM, client_id)
    assert (await serve(one, client_id)).status_code == 401
    assert (await serve(one, client_id, fresh)).status_code == 200

    async def refused() -> bool:
        return (await serve(other, client_id)).status_code == 401

    await wait_until(refused)
    assert (await serve(other, client_id, fresh)).status_code == 200


async def test_f6_a_change_that_is_undone_is_never_seen(workers: Workers) -> None:
    one, _, client_id = await known_to_both(workers)
    with pytest.raises(ZeroDivisionError):
        async with one.resources.database.transaction() as session:
            audit = audit_service(session, one.clock)
            administration = client_administration(one.resources, session, audit)
            await administration.change(SYSTEM, client_id, ClientChange(enabled=False))
            _ = 1 / 0
    await one.resources.known_clients.forget()
    assert (await serve(one, client_id)).status_code == 200


async def test_h4_f6_keys_that_are_rotated_at_the_other_worker(workers: Workers) -> None:
    one, other, client_id = await known_to_both(workers)
    old = kid_of(await serve(other, client_id))
    async with one.resources.database.transaction() as session:
        audit = audit_service(session, one.clock)
        keys = key_administration(one.resources, session, one.app.state.opened_keys, audit)
        await keys.rotate(SYSTEM, insist=True)
    assert kid_of(await serve(one, client_id)) != old

    async def signs_by_another() -> bool:
        return kid_of(await serve(other, client_id)) != old

    await wait_until(signs_by_another)


async def test_h4_f6_a_key_that_is_retired_at_the_other_worker(workers: Workers) -> None:
    one, other, client_id = await known_to_both(workers)
    answer = await serve(other, client_id)
    token = answer.json()["access_token"]

    async def is_active(worker: Provider) -> bool:
        form = {"client_id": client_id, "client_secret": SHOP_SECRET, "token": token}
        active: bool = (await worker.http.post("/auth/introspect", data=form)).json()["active"]
        return active

    assert await is_active(other)
    async with one.resources.database.transaction() as session:
        audit = audit_service(session, one.clock)
        keys = key_administration(one.resources, session, one.app.state.opened_keys, audit)
        await keys.retire(SYSTEM, kid_of(answer))
    assert not await is_active(one)

    async def is_dead() -> bool:
        return not await is_active(other)

    await wait_until(is_dead)
