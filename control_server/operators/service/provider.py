"""The sign-in service as an ordinary OpenID Provider, reached at its internal address."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from control_server.operators.errors import AuthAway, SignInDeclined, SignInRefused
from control_server.settings import ControlSettings
from shared.kernel.clock import Clock

_SCOPES = "openid profile"
#: A key that is not known is looked for at most this often, whatever tokens name.
_LOOK_AGAIN = timedelta(seconds=5)
#: Keys are published before they sign, so a set may be this old.
_KEYS_LIFE = timedelta(minutes=5)
_RETRY = timedelta(seconds=5)
_SERVER_ERROR = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Redeemed:
    """What a code was exchanged for."""

    id_token: str = field(repr=False)
    access_token: str = field(repr=False)


@dataclass(slots=True)
class KnownKeys:
    """The provider's public keys as they were last read."""

    found: KeySet | None = None
    read_at: datetime | None = None
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Provider:
    """What the portal asks of the sign-in service. Every method may raise AuthAway."""

    settings: ControlSettings
    http: httpx2.AsyncClient
    now: Clock
    known: KnownKeys = field(default_factory=KnownKeys)

    @property
    def redirect_uri(self) -> str:
        """Where the browser comes back to."""
        return f"{self.settings.web.public_url}/sign-in/callback"

    def _at(self, path: str) -> str:
        return f"{(self.settings.auth_url or self.settings.web.public_url).rstrip('/')}/auth{path}"

    async def check_reachable(self) -> None:
        """Raise AuthAway before a browser is sent to where nobody answers."""
        await self._asked(lambda: self.http.get(self._at("/readyz")))

    def authorization_url(self, state: str, nonce: str, verifier: str, *, anew: bool) -> str:
        """Where the person signs in; `anew`: also when they are signed in there already."""
        demands: dict[str, str] = {"prompt": "login", "max_age": "0"} if anew else {}
        url, _ = self._client("").create_authorization_url(
            f"{self.settings.issuer}/authorize",
            state=state,
            code_verifier=verifier,
            nonce=nonce,
            **demands,
        )
        return str(url)

    def logout_url(self, id_token: str) -> str:
        """Where the person's browser signs out there too, and comes back."""
        query = {
            "id_token_hint": id_token,
            "client_id": self.settings.sign_in.client_id,
            "post_logout_redirect_uri": f"{self.settings.web.public_url}/",
        }
        return f"{self.settings.issuer}/logout?{httpx2.QueryParams(query)}"

    async def redeem(self, code: str, verifier: str) -> Redeemed:
        """The tokens that the code stands for. Raises SignInRefused."""
        async with self._client(await self._secret()) as client:
            answer = await self._asked(
                lambda: client.fetch_token(
                    self._at("/token"),
                    grant_type="authorization_code",
                    code=code,
                    redirect_uri=self.redirect_uri,
                    code_verifier=verifier,
                )
            )
        tokens = (answer.get("id_token"), answer.get("access_token"))
        if not all(isinstance(token, str) for token in tokens):
            raise SignInRefused
        return Redeemed(*tokens)

    async def introspect(self, token: str) -> dict[str, Any]:
        """What the token is good for now (RFC 7662)."""
        return await self._told("/introspect", token=token)

    async def standing(self, subject: str) -> dict[str, Any]:
        """Whether this person's account is enabled, and its role of now."""
        return await self._told("/standing", sub=subject)

    async def _told(self, path: str, **form: str) -> dict[str, Any]:
        credentials = httpx2.BasicAuth(self.settings.sign_in.client_id, await self._secret())
        response = await self._asked(lambda: self.http.post(self._at(path), data=form, auth=credentials))
        if not response.is_success:
            raise AuthAway(retry_after=_RETRY)
        return dict(response.json())

    async def keys(self, kid: str | None) -> KeySet:
        """The public keys; read again when they are old or do not have this one."""
        known = self.known
        async with known.reading:
            if known.found is None or known.read_at is None:
                return await self._read_keys()
            age = self.now() - known.read_at
            strange = all(key.kid != kid for key in known.found.keys)
            if age < (_LOOK_AGAIN if strange else _KEYS_LIFE):
                return known.found
            try:
                return await self._read_keys()
            except AuthAway:
                if strange:
                    raise
                return known.found

    async def _read_keys(self) -> KeySet:
        response = await self._asked(lambda: self.http.get(self._at("/jwks.json")))
        try:
            self.known.found = KeySet.import_key_set(response.raise_for_status().json())
        except (httpx2.HTTPStatusError, JoseError, ValueError, KeyError, TypeError):
            raise AuthAway(retry_after=_RETRY) from None
        self.known.read_at = self.now()
        return self.known.found

    async def _asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer, or the refusal that it amounts to."""
        try:
            answer = await ask()
        except OAuthError as error:
            raise (AuthAway if error.error == "temporarily_unavailable" else SignInRefused) from error
        except (httpx2.HTTPError, ValueError) as error:
            raise AuthAway(retry_after=_RETRY) from error
        if isinstance(answer, httpx2.Response) and answer.status_code >= _SERVER_ERROR:
            raise AuthAway(retry_after=_RETRY)
        return answer

    def _client(self, secret: str) -> Any:
        """A client of its own for each sign-in, because it keeps the token of the last one. Untyped."""
        return AsyncOAuth2Client(
            client_id=self.settings.sign_in.client_id,
            client_secret=secret,
            token_endpoint_auth_method="client_secret_basic",  # noqa: S106 - a word of the protocol
            scope=_SCOPES,
            redirect_uri=self.redirect_uri,
            code_challenge_method="S256",
            transport=Borrowed(self.http),
            timeout=self.settings.sign_in.seconds,
            trust_env=False,
        )

    async def _secret(self) -> str:
        path: Path = self.settings.client_secret_file
        try:
            return (await asyncio.to_thread(path.read_text)).strip()
        except OSError:
            raise AuthAway("The portal has no client secret yet; the sign-in service makes it.") from None


class Borrowed(httpx2.AsyncBaseTransport):
    """Sends through connections that somebody else keeps, and leaves them open."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        """Send through `http`."""
        self._http = http

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Pass on as it is: the outer client has set everything."""
        return await self._http.send(request, auth=None, follow_redirects=False)


def declined(error: str) -> SignInDeclined | SignInRefused | AuthAway:
    """What an error in the callback means to the person."""
    if error == "temporarily_unavailable":
        return AuthAway(retry_after=_RETRY)
    return SignInDeclined() if error == "access_denied" else SignInRefused()
