"""What every client goes through: sign-in, refresh, a device, logout and revocation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from auth_server.sessions.dependencies import SESSION_COOKIE
from tests.conformance.auth.provider.provider import ALL, Person, Provider

REDIRECT = "http://127.0.0.1:53219/cb"
AFTERWARDS = "https://shop.example/bye"
SCOPE = "openid profile offline_access fleet:read"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
GRANTS = ["authorization_code", "refresh_token", DEVICE_GRANT]


@dataclass(frozen=True)
class Registered:
    """A client as it knows itself."""

    client_id: str
    secret: str | None


@dataclass(frozen=True)
class Told:
    """What a client is told on its way; field names are those of the scripts in JavaScript."""

    issuer: str
    clientId: str  # noqa: N815
    secret: str | None
    redirectUri: str  # noqa: N815
    afterwards: str
    scope: str
    cookieName: str  # noqa: N815
    cookie: str

    def as_json(self, method: str) -> dict[str, Any]:
        return {**asdict(self), "method": method}


async def register(provider: Provider, client: Registered) -> None:
    native = client.secret is None
    await provider.register(
        client.secret,
        client_id=client.client_id,
        native=native,
        redirect_uris=["http://127.0.0.1/cb" if native else REDIRECT],
        post_logout_redirect_uris=[AFTERWARDS],
        grant_types=GRANTS,
        scopes=ALL,
    )


def told(provider: Provider, client: Registered, person: Person) -> Told:
    return Told(
        issuer=provider.resources.settings.issuer,
        clientId=client.client_id,
        secret=client.secret,
        redirectUri=REDIRECT,
        afterwards=AFTERWARDS,
        scope=SCOPE,
        cookieName=SESSION_COOKIE,
        cookie=person.cookie,
    )


def is_a_whole_life(found: dict[str, Any], person: Person) -> None:
    """Every step had the outcome that it is to have."""
    assert found["questions"] == 1
    for claims in (found["claims"], found["refreshedClaims"], found["deviceClaims"], found["userinfo"]):
        assert claims["sub"] == str(person.account_id)
    assert found["userinfo"]["preferred_username"] == found["claims"]["preferred_username"]
    assert found["refreshedClaims"]["auth_time"] == found["claims"]["auth_time"]
    assert found["left"] == f"{AFTERWARDS}?state=bye"
    assert found["again"].startswith("/auth/sign-in?next=")
    assert found["refusal"] == "invalid_grant"
