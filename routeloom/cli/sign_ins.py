"""Sign-ins of the command line: one a server, in a file that only its owner can read, refreshed when due."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from shared.kernel.files import make_private_directory, write_private

if TYPE_CHECKING:
    from collections.abc import Iterator

    from routeloom.lite.home import Home

CLIENT_ID = "routeloom-cli"
#: A token that ends sooner than this is not worth sending.
_LEEWAY_SECONDS = 30
_SECONDS = 30


class SignInEnded(Exception):
    """The server no longer honours the sign-in."""


@dataclass(frozen=True, slots=True)
class SignIns:
    """What is kept, by the address of the server."""

    home: Home

    def keep(self, url: str, tokens: dict[str, Any]) -> None:
        """Replace what was kept of this server."""
        with self._held() as kept:
            kept[url] = tokens

    def forget(self, url: str) -> dict[str, Any] | None:
        """What was kept of this server and no longer is."""
        if not self.home.sign_ins.exists():
            return None
        with self._held() as kept:
            found: dict[str, Any] | None = kept.pop(url, None)
            return found

    def access_token(self, url: str) -> str:
        """A token for this server, fresh if need be; empty where nobody is signed in.

        Raises SignInEnded, or TransportError where the server does not answer. One process refreshes at a
        time: a refresh token is good once.
        """
        if not self.home.sign_ins.exists():
            return ""
        ended = False
        with self._held() as kept:
            tokens = kept.get(url)
            if tokens is None:
                return ""
            if tokens["expires_at"] - _LEEWAY_SECONDS < time.time():
                fresh = _refresh(tokens)
                ended = fresh is None
                if fresh is None:
                    del kept[url]
                else:
                    kept[url] = tokens = fresh
        if ended:
            raise SignInEnded
        return str(tokens["access_token"])

    @contextmanager
    def _held(self) -> Iterator[dict[str, Any]]:
        """What is kept, written back at the end where it has changed."""
        make_private_directory(self.home.root)
        lock = os.open(self.home.root / "signed-in.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = self._read()
            kept = json.loads(before)
            yield kept
            after = json.dumps(kept)
            if after != before:
                write_private(self.home.sign_ins, after)
        finally:
            os.close(lock)

    def _read(self) -> str:
        try:
            return self.home.sign_ins.read_text()
        except FileNotFoundError:
            return "{}"


def client(**options: Any) -> Any:
    """Authlib's client, untyped; imported late, because most commands do not need it."""
    from authlib.integrations.httpx_client import OAuth2Client  # type: ignore[import-untyped]  # noqa: PLC0415

    return OAuth2Client(
        client_id=CLIENT_ID,
        token_endpoint_auth_method="none",  # noqa: S106 - a word of the protocol
        code_challenge_method="S256",
        timeout=_SECONDS,
        **options,
    )


def kept_of(answer: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a token response, with where to go on with it."""
    return {
        "access_token": answer["access_token"],
        "refresh_token": answer["refresh_token"],
        "expires_at": time.time() + answer["expires_in"],
        "token_endpoint": metadata["token_endpoint"],
        "revocation_endpoint": metadata["revocation_endpoint"],
    }


def revoke(tokens: dict[str, Any]) -> bool:
    """End the grant at the server; False where it does not answer."""
    form = {"token": tokens["refresh_token"], "client_id": CLIENT_ID}
    try:
        return httpx2.post(tokens["revocation_endpoint"], data=form, timeout=_SECONDS).is_success
    except httpx2.TransportError:
        return False


def _refresh(tokens: dict[str, Any]) -> dict[str, Any] | None:
    from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]  # noqa: PLC0415

    with client(token=tokens) as opened:
        try:
            answer = opened.refresh_token(tokens["token_endpoint"], refresh_token=tokens["refresh_token"])
        except OAuthError:
            return None
    return kept_of(answer, tokens)
