"""Signing in without a browser on this machine: a code that is confirmed on another (RFC 8628)."""

from __future__ import annotations

import time
from typing import Any

import httpx2
import typer

from routeloom.cli.connection import EXIT_REFUSED, fail
from routeloom.cli.sign_ins import CLIENT_ID, client, kept_of

ENDPOINT = "device_authorization_endpoint"
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_LESS_OFTEN_SECONDS = 5
_SENTENCES = {
    "access_denied": "it was refused.",
    "expired_token": "nobody confirmed the code in time.",
}


def sign_in_by_device(metadata: dict[str, Any], scopes: str) -> dict[str, Any]:
    """Show a code and wait until somebody has confirmed it; answers what is kept of the tokens."""
    begun = _begin(metadata, scopes)
    typer.echo(
        f"Open this address in a browser, on any machine:\n\n  {begun['verification_uri']}\n\n"
        f"and type this code there:\n\n  {begun['user_code']}\n\n"
        f"or open it with the code:\n\n  {begun.get('verification_uri_complete', '')}\n"
    )
    return kept_of(_wait(metadata, begun), metadata)


def _begin(metadata: dict[str, Any], scopes: str) -> dict[str, Any]:
    if ENDPOINT not in metadata:
        fail("The server does not offer this way to sign in.", EXIT_REFUSED)
    answer = httpx2.post(metadata[ENDPOINT], data={"client_id": CLIENT_ID, "scope": scopes}, timeout=30)
    if not answer.is_success:
        fail(f"Not signed in: the server answered {answer.status_code}.", EXIT_REFUSED)
    begun: dict[str, Any] = answer.json()
    return begun


def _wait(metadata: dict[str, Any], begun: dict[str, Any]) -> dict[str, Any]:
    from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]  # noqa: PLC0415

    pause = int(begun.get("interval", _LESS_OFTEN_SECONDS))
    ends = time.monotonic() + int(begun["expires_in"])
    with client() as opened:
        while time.monotonic() < ends:
            time.sleep(pause)
            try:
                tokens: dict[str, Any] = opened.fetch_token(
                    metadata["token_endpoint"], grant_type=_GRANT, device_code=begun["device_code"]
                )
            except OAuthError as error:
                pause = _longer(pause, error.error, error.description)
            except httpx2.TransportError:
                # The server may come back before the code is too old (RFC 8628, section 3.5).
                pause *= 2
            else:
                return tokens
    raise _not_signed_in("expired_token")


def _longer(pause: int, error: str, description: str) -> int:
    """The pause before the next question; ends the command where there is none to ask."""
    if error == "authorization_pending":
        return pause
    if error == "slow_down":
        return pause + _LESS_OFTEN_SECONDS
    raise _not_signed_in(error, description)


def _not_signed_in(error: str, description: str = "") -> typer.Exit:
    typer.echo(f"Not signed in: {_SENTENCES.get(error, description or error)}", err=True)
    return typer.Exit(EXIT_REFUSED)
