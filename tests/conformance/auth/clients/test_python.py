"""PyPI requests-oauthlib and PyPI Authlib, unmodified."""

import asyncio
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession  # type: ignore[import-untyped]  # has no types
from joserfc import jwt
from joserfc.jwk import KeySet
from oauthlib.oauth2 import DeviceClient, InvalidGrantError  # type: ignore[import-untyped]  # has no types
from requests_oauthlib import OAuth2Session  # type: ignore[import-untyped]  # has no types

from tests.conformance.auth.clients.browser import Browser
from tests.conformance.auth.clients.life import (
    AFTERWARDS,
    DEVICE_GRANT,
    Registered,
    Told,
    is_a_whole_life,
    register,
    told,
)
from tests.conformance.auth.provider.provider import Provider

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHOP = Registered("shop-in-python", "shop-in-python-secret")
NATIVE = Registered("tool-in-python", None)


class Server:
    """What the metadata says, and the keys to read ID tokens with."""

    def __init__(self, issuer: str) -> None:
        self.metadata: dict[str, Any] = _get(f"{issuer}/.well-known/openid-configuration")
        self._keys = KeySet.import_key_set(requests.get(self.metadata["jwks_uri"], timeout=60).json())

    def claims(self, id_token: str, audience: str) -> dict[str, Any]:
        found = jwt.decode(id_token, self._keys, algorithms=["ES256", "RS256"])
        expected = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": self.metadata["issuer"]},
            aud={"essential": True, "value": audience},
        )
        expected.validate(found.claims)
        return dict(found.claims)


def _get(address: str) -> dict[str, Any]:
    found: dict[str, Any] = requests.get(address, timeout=60).json()
    return found


def leave(server: Server, browser: Browser, id_token: str) -> str:
    sent = {"id_token_hint": id_token, "post_logout_redirect_uri": AFTERWARDS, "state": "bye"}
    answer = browser.visit(f"{server.metadata['end_session_endpoint']}?{urlencode(sent)}")
    return str(answer.headers["location"])


def live_with_requests_oauthlib(asked: Told) -> dict[str, Any]:
    server = Server(asked.issuer)
    browser = Browser(asked.issuer, asked.cookieName, asked.cookie)
    endpoints, who = server.metadata, {"client_id": asked.clientId, "client_secret": asked.secret or ""}
    if asked.secret is None:
        who = {"client_id": asked.clientId}
    session = OAuth2Session(
        asked.clientId, redirect_uri=asked.redirectUri, scope=asked.scope.split(), pkce="S256"
    )
    address, _state = session.authorization_url(endpoints["authorization_endpoint"], nonce="n-1")
    back, questions = browser.authorize(address)
    tokens = session.fetch_token(
        endpoints["token_endpoint"],
        authorization_response=back,
        client_secret=asked.secret,
        include_client_id=True,
    )
    refreshed = session.refresh_token(endpoints["token_endpoint"], **who)
    userinfo = session.get(endpoints["userinfo_endpoint"]).json()

    begun = requests.post(
        endpoints["device_authorization_endpoint"], data={**who, "scope": asked.scope}, timeout=60
    ).json()
    browser.confirm_device(begun["verification_uri"], begun["user_code"])
    device = OAuth2Session(client=DeviceClient(asked.clientId, scope=asked.scope.split()))
    given = device.fetch_token(
        endpoints["token_endpoint"],
        device_code=begun["device_code"],
        include_client_id=True,
        client_secret=asked.secret,
    )
    left = leave(server, browser, refreshed["id_token"])
    again = browser.visit(address).headers["location"]
    address, headers, body = session._client.prepare_token_revocation_request(
        endpoints["revocation_endpoint"], refreshed["refresh_token"], "refresh_token", **who
    )
    requests.post(address, headers=headers, data=body, timeout=60).raise_for_status()
    refusal = ""
    try:
        session.refresh_token(endpoints["token_endpoint"], refresh_token=refreshed["refresh_token"], **who)
    except InvalidGrantError as error:
        refusal = str(error.error)
    return {
        "questions": questions,
        "claims": server.claims(tokens["id_token"], asked.clientId),
        "refreshedClaims": server.claims(refreshed["id_token"], asked.clientId),
        "deviceClaims": server.claims(given["id_token"], asked.clientId),
        "userinfo": userinfo,
        "left": left,
        "again": again,
        "refusal": refusal,
    }


def live_with_authlib(asked: Told) -> dict[str, Any]:
    server = Server(asked.issuer)
    browser = Browser(asked.issuer, asked.cookieName, asked.cookie)
    endpoints = server.metadata
    session = AuthlibSession(
        asked.clientId,
        asked.secret,
        scope=asked.scope,
        redirect_uri=asked.redirectUri,
        code_challenge_method="S256",
        token_endpoint_auth_method="none" if asked.secret is None else "client_secret_basic",
        revocation_endpoint_auth_method="none" if asked.secret is None else "client_secret_basic",
    )
    verifier = "v" * 64
    address, _state = session.create_authorization_url(
        endpoints["authorization_endpoint"], code_verifier=verifier, nonce="n-1"
    )
    back, questions = browser.authorize(address)
    tokens = session.fetch_token(
        endpoints["token_endpoint"], authorization_response=back, code_verifier=verifier
    )
    refreshed = session.refresh_token(endpoints["token_endpoint"], tokens["refresh_token"])
    userinfo = session.get(endpoints["userinfo_endpoint"]).json()

    who = {"auth": (asked.clientId, asked.secret)} if asked.secret else {}
    form = {"client_id": asked.clientId, "scope": asked.scope}
    begun = requests.post(
        endpoints["device_authorization_endpoint"],
        data=form,
        timeout=60,
        **who,  # type: ignore[arg-type]
    ).json()
    browser.confirm_device(begun["verification_uri"], begun["user_code"])
    given = session.fetch_token(
        endpoints["token_endpoint"], grant_type=DEVICE_GRANT, device_code=begun["device_code"]
    )
    left = leave(server, browser, refreshed["id_token"])
    again = browser.visit(address).headers["location"]
    session.revoke_token(endpoints["revocation_endpoint"], refreshed["refresh_token"], "refresh_token")
    answer = session.request(
        "POST",
        endpoints["token_endpoint"],
        withhold_token=True,
        data={"grant_type": "refresh_token", "refresh_token": refreshed["refresh_token"]},
        auth=session.client_auth(session.token_endpoint_auth_method),
    )
    return {
        "questions": questions,
        "claims": server.claims(tokens["id_token"], asked.clientId),
        "refreshedClaims": server.claims(refreshed["id_token"], asked.clientId),
        "deviceClaims": server.claims(given["id_token"], asked.clientId),
        "userinfo": userinfo,
        "left": left,
        "again": again,
        "refusal": answer.json()["error"],
    }


@pytest.mark.parametrize("client", [SHOP, NATIVE], ids=["confidential", "native"])
@pytest.mark.parametrize("live", [live_with_requests_oauthlib, live_with_authlib])
async def test_i1_a_whole_life(
    provider: Provider, client: Registered, live: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It refuses plain HTTP, which is what a loopback is asked by.
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    await register(provider, client)
    person = await provider.person()
    found = await asyncio.to_thread(live, told(provider, client, person))
    is_a_whole_life(found, person)
