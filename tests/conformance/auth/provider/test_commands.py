"""`routeloom auth keys` and `routeloom auth clients` beside a server that runs. Row H4, and clients' rows."""

import asyncio
import json
import os
import secrets
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from auth_server.audit.dependencies import audit_service
from auth_server.signing_keys.dependencies import key_administration, key_ring
from auth_server.signing_keys.errors import NextKeyTooYoung, SigningKeyNotFound
from shared.kernel.principal import SYSTEM, Role
from shared.kernel.recent import Recent
from tests.conformance.auth.provider.keys import Signing
from tests.conformance.auth.provider.provider import (
    ISSUER,
    ORIGIN,
    SHOP_URI,
    Person,
    Pkce,
    Provider,
    query_of,
    wanted,
)

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.processes]


SCOPES = ("--scope", "openid", "--scope", "fleet:read")


@pytest.fixture
def shell(database: tuple[str, Path]) -> "Shell":
    return Shell(*database)


class Shell:
    """A shell on the host of the server."""

    def __init__(self, url: str, directory: Path) -> None:
        self.environment = {
            **os.environ,
            "ROUTELOOM_AUTH_DATABASE__URL": url,
            "ROUTELOOM_AUTH_STATE_DIRECTORY": str(directory),
            "ROUTELOOM_AUTH_WEB__PUBLIC_URL": ORIGIN,
            "ROUTELOOM_AUTH_WEB__LOG_LEVEL": "WARNING",
        }

    async def run(self, *arguments: str) -> tuple[int, str]:
        began = monotonic()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "auth_server", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self.environment,
        )
        said, _ = await asyncio.wait_for(process.communicate(), 120)
        assert process.returncode is not None
        # What the server read before is good for a second; then it sees what this other process did.
        await asyncio.sleep(max(0.0, began + Recent[str, str]().life - monotonic()))
        return process.returncode, said.decode()

    async def say(self, *arguments: str) -> str:
        status, said = await self.run(*arguments)
        assert status == 0, said
        return said


async def stages(provider: Provider) -> dict[str, str]:
    found = await provider.rows("SELECT kid, stage FROM signing_keys WHERE algorithm = 'ES256'")
    return {row.kid: row.stage for row in found}


async def signer(provider: Provider, person: Person) -> tuple[str, str]:
    """A fresh access token and the key that signed it."""
    from joserfc import jws

    token = (await provider.tokens(person))["access_token"]
    return token, str(jws.extract_compact(token.encode()).headers()["kid"])


async def test_h4_a_server_that_runs_follows_a_rotation(
    provider: Provider, ada: Person, shell: Shell
) -> None:
    before = await stages(provider)
    old, by_old = await signer(provider, ada)
    assert before[by_old] == "current"
    said = await shell.say("keys", "rotate", "--now")
    new, by_new = await signer(provider, ada)
    after = await stages(provider)
    assert (before[by_new], after[by_new], after[by_old]) == ("next", "current", "previous")
    published = {key["kid"] for key in (await provider.http.get("/auth/jwks.json")).json()["keys"]}
    assert set(after) <= published
    for token in (old, new):
        assert (await provider.introspect(token))["active"] is True
    assert by_new in said
    assert "signing_keys.rotated" in [
        row[0] for row in await provider.rows("SELECT action FROM audit_events")
    ]


async def test_h4_a_key_that_leaked_is_forgotten_at_once(
    provider: Provider, ada: Person, shell: Shell
) -> None:
    token, kid = await signer(provider, ada)
    assert kid in await shell.say("keys", "list")
    assert kid not in await shell.say("keys", "retire", kid)
    assert await provider.introspect(token) == {"active": False}
    fresh, other = await signer(provider, ada)
    assert other != kid
    assert (await provider.introspect(fresh))["active"] is True
    assert sorted((await stages(provider)).values())[:2] == ["current", "next"]
    for unknown in ("nothing", "-Wx"):
        status, said = await shell.run("keys", "retire", unknown)
        assert (status != 0, "no such signing key" in said) == (True, True)


async def test_h4_a_key_is_published_for_a_while_before_it_signs(provider: Provider) -> None:
    async with provider.resources.database.transaction() as session:
        await key_ring(provider.resources, session, provider.app.state.opened_keys).rotate()
    async with provider.resources.database.transaction() as session:
        audit = audit_service(session, provider.clock)
        keys = key_administration(provider.resources, session, provider.app.state.opened_keys, audit)
        with pytest.raises(NextKeyTooYoung):
            await keys.rotate(SYSTEM)
        with pytest.raises(SigningKeyNotFound):
            await keys.retire(SYSTEM, "x" * 43)
        provider.clock.turn(minutes=10)
        await keys.rotate(SYSTEM)


async def test_d9_a_client_from_registration_to_the_end(
    provider: Provider, ada: Person, shell: Shell
) -> None:
    client_id = f"cli-{secrets.token_hex(4)}"
    made = await shell.say("clients", "add", client_id, "--name", "Shop", "--redirect-uri", SHOP_URI, *SCOPES)
    assert made.startswith("rlk_")
    assert client_id in await shell.say("clients", "list")
    pkce = Pkce()
    page = await ada.browser.get("/auth/authorize", params=wanted(pkce, client_id, scope="openid fleet:read"))
    code = query_of(await provider.agree(ada, page))["code"]
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": pkce.verifier,
        "redirect_uri": SHOP_URI,
        "client_id": client_id,
    }
    fresh = (await shell.say("clients", "secret", client_id)).strip()
    assert (
        await provider.http.post("/auth/token", data={**form, "client_secret": made.strip()})
    ).status_code == 401
    answer = await provider.http.post("/auth/token", data={**form, "client_secret": fresh})
    token = answer.json()["access_token"]
    changed = await shell.say("clients", "change", client_id, "--set", '{"requires_pushed": true}')
    assert json.loads(changed)["requires_pushed"] is True
    assert (await provider.introspect(token))["active"] is True
    await shell.say("clients", "disable", client_id)
    assert await provider.introspect(token) == {"active": False}
    assert ("client_disabled",) in [(row[1],) for row in await provider.grants(ada)]
    again = await provider.http.post("/auth/token", data={**form, "client_secret": fresh})
    assert again.status_code == 401
    await shell.say("clients", "enable", client_id)
    assert await provider.introspect(token) == {"active": False}, "what ended stays ended"


async def test_d9_a_service_with_keys_is_registered_by_a_file(
    provider: Provider, shell: Shell, tmp_path: Path
) -> None:
    signing = Signing(f"cli-{secrets.token_hex(4)}")
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": signing.jwks}))
    options = ["--name", "Billing", "--grant", "client_credentials", "--role", "viewer"]
    options += ["--scope", "fleet:read", "--keys", str(file)]
    assert "no secret" in await shell.say("clients", "add", signing.client_id, *options)
    form = {"grant_type": "client_credentials", **signing.assertion(ISSUER, provider.clock())}
    assert (await provider.http.post("/auth/token", data=form)).json()["scope"] == "fleet:read"
    shown = json.loads(await shell.say("clients", "show", signing.client_id))
    assert shown["public_keys"] == signing.jwks


async def test_a9_what_is_refused_is_said(shell: Shell) -> None:
    for arguments, sentence in (
        (["add", "bad", "--name", "Bad", "--redirect-uri", "http://shop.example/cb"], "redirect_uris"),
        (["add", "bad", "--name", "Bad"], "redirect_uris"),
        (["add", "bad", "--name", "Bad", "--redirect-uri", SHOP_URI, "--scope", "all"], "scopes"),
        (["add", "shop", "--name", "Again", "--redirect-uri", SHOP_URI], "registered already"),
        (["change", "routeloom-portal", "--set", "{}"], "part of the installation"),
        (["show", "nobody"], "no such client"),
    ):
        status, said = await shell.run("clients", *arguments)
        assert status != 0
        assert sentence in said


async def administer(person: Person, method: str, path: str, body: Any = None) -> Any:
    headers = {"X-CSRF-Token": person.csrf, "Accept": "application/json"}
    return await person.browser.request(method, f"/auth/api/v1/clients{path}", json=body, headers=headers)


async def test_o9_administrators_do_it_over_http(provider: Provider, ada: Person) -> None:
    await ada.browser.get("/auth/account")
    client_id = f"api-{secrets.token_hex(4)}"
    wanted_client = {"client_id": client_id, "name": "Shop", "redirect_uris": [SHOP_URI]}
    made = await administer(ada, "POST", "", wanted_client)
    assert made.status_code == 201, made.text
    assert made.json()["client_secret"].startswith("rlk_")
    assert (await administer(ada, "POST", "", wanted_client)).status_code == 409
    assert client_id in [client["client_id"] for client in (await administer(ada, "GET", "")).json()]
    read = (await administer(ada, "GET", f"/{client_id}")).json()
    assert (read["confidential"], "client_secret" in read) == (True, False)
    changed = await administer(ada, "PATCH", f"/{client_id}", {"name": "Store", "enabled": False})
    assert (changed.json()["name"], changed.json()["disabled_at"] is None) == ("Store", False)
    renewed = await administer(ada, "POST", f"/{client_id}/secret")
    assert renewed.json()["client_secret"] != made.json()["client_secret"]
    for bad in ({"redirect_uris": ["javascript:x"]}, {"public_keys": [{"kty": "oct", "k": "AA"}]}):
        assert (await administer(ada, "PATCH", f"/{client_id}", bad)).status_code in {409, 422}
    assert (await administer(ada, "PATCH", "/routeloom-cli", {"name": "x"})).status_code == 409
    assert (await administer(ada, "GET", "/nobody")).status_code == 404
    done = await provider.actions(ada)
    assert {"client.created", "client.changed", "client.secret_renewed"} <= set(done)
    kept = await provider.kept("SELECT * FROM audit_events")
    assert made.json()["client_secret"] not in kept
    assert renewed.json()["client_secret"] not in kept


async def test_o9_nobody_else_does_and_not_without_a_fresh_passkey(provider: Provider, ada: Person) -> None:
    viewer = await provider.person(Role.OPERATOR)
    await viewer.browser.get("/auth/account")
    assert (await administer(viewer, "GET", "")).status_code == 403
    await ada.browser.get("/auth/account")
    provider.clock.turn(minutes=6)
    refused = await administer(
        ada, "POST", "", {"client_id": "late", "name": "x", "redirect_uris": [SHOP_URI]}
    )
    assert (refused.status_code, refused.json()["code"]) == (403, "step_up_needed")
