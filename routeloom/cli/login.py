"""`routeloom login` and `routeloom logout`: by a loopback redirect (RFC 8252), or a code typed elsewhere."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
import webbrowser
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Annotated, Any, Self
from urllib.parse import parse_qsl, urlsplit

import httpx2
import typer

from routeloom.cli.connection import EXIT_REFUSED, EXIT_UNREACHABLE, fail, find_server
from routeloom.cli.device_sign_in import ENDPOINT, sign_in_by_device
from routeloom.cli.sign_ins import SignIns, client, kept_of, revoke
from routeloom.lite.home import Home, default_home
from shared.kernel.principal import Scope

Server = Annotated[str | None, typer.Option("--server", help="Address of the server; else ROUTELOOM_URL")]

_SCOPES = " ".join(["openid", "profile", "offline_access", *Scope])
_PATIENCE_SECONDS = 600
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Routeloom</title>
<p>{sentence} You can close this page.</p></html>"""


def login(
    *,
    server: Server = None,
    device: Annotated[
        bool | None,
        typer.Option("--device/--loopback", help="By a code or by a redirect; else as this machine can"),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser")] = True,
) -> None:
    """Sign in with a browser, here or on another machine; the other commands then act as you."""
    url = find_server(server)
    metadata = _discover(url)
    by_code = not _has_display() and ENDPOINT in metadata if device is None else device
    try:
        tokens = sign_in_by_device(metadata, _SCOPES) if by_code else _sign_in(metadata, browser=browser)
        who = _who(metadata, tokens["access_token"])
    except httpx2.TransportError:
        fail(f"{url} does not answer.", EXIT_UNREACHABLE)
    SignIns(Home(default_home())).keep(url, tokens)
    typer.echo(f"Signed in to {url} as {who['preferred_username']} ({who['role']}).")


def logout(*, server: Server = None) -> None:
    """Forget the sign-in, here and at the server."""
    url = find_server(server)
    tokens = SignIns(Home(default_home())).forget(url)
    if tokens is None:
        fail(f"Nobody is signed in to {url}.", EXIT_REFUSED)
    elif revoke(tokens):
        typer.echo(f"Signed out of {url}.")
    else:
        fail(f"Forgotten here, but {url} does not answer; end the grant there.", EXIT_UNREACHABLE)


def _discover(url: str) -> dict[str, Any]:
    """The metadata, which must be of this very server (RFC 8414, section 3.3)."""
    try:
        answer = httpx2.get(f"{url}/auth/.well-known/openid-configuration", timeout=30)
        metadata: dict[str, Any] = answer.raise_for_status().json()
    except httpx2.TransportError:
        fail(f"{url} does not answer.", EXIT_UNREACHABLE)
    except (httpx2.HTTPStatusError, ValueError):
        fail(f"{url} offers no sign-in.", EXIT_REFUSED)
    if metadata.get("issuer") != f"{url}/auth":
        public = str(metadata.get("issuer", "")).removesuffix("/auth")
        fail(f"{url} calls itself {public}. Use --server {public}.", EXIT_REFUSED)
    return metadata


def _sign_in(metadata: dict[str, Any], *, browser: bool) -> dict[str, Any]:
    with _Listener() as listener, client(redirect_uri=listener.address, scope=_SCOPES) as opened:
        verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(32)
        address, _ = opened.create_authorization_url(
            metadata["authorization_endpoint"], state=state, code_verifier=verifier
        )
        _show(address, listener.port, browser=browser)
        said = listener.wait_for(state, metadata["issuer"])
        if "code" not in said:
            fail(f"Not signed in: {said.get('error_description') or said.get('error', 'no answer')}", 1)
        return _exchange(opened, metadata, said["code"], verifier)


def _exchange(opened: Any, metadata: dict[str, Any], code: str, verifier: str) -> dict[str, Any]:
    from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        answer = opened.fetch_token(metadata["token_endpoint"], code=code, code_verifier=verifier)
    except OAuthError as error:
        fail(f"Not signed in: {error.description or error.error}", EXIT_REFUSED)
    return kept_of(answer, metadata)


def _show(address: str, port: int, *, browser: bool) -> None:
    typer.echo(f"Open this address in a browser on this machine:\n\n  {address}\n")
    if browser and _has_display():
        webbrowser.open(address)
    else:
        host = socket.gethostname()
        typer.echo(f"From afar, forward the port first:  ssh -L {port}:127.0.0.1:{port} {host}\n")


def _has_display() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))


def _who(metadata: dict[str, Any], token: str) -> dict[str, Any]:
    answer = httpx2.get(
        metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {token}"}, timeout=30
    )
    if not answer.is_success:
        fail("The server did not say who signed in.", EXIT_REFUSED)
    found: dict[str, Any] = answer.json()
    return found


@dataclass(slots=True)
class _Listener:
    """Waits on loopback for the browser to come back, with the state of this very sign-in."""

    server: HTTPServer = field(init=False)
    said: dict[str, str] = field(default_factory=dict)
    expected: tuple[str, str] = ("", "")

    def __enter__(self) -> Self:
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                listener.answer(self)

            def log_message(self, *_: object) -> None:
                """Say nothing: the address has a code in it."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.server.timeout = 1
        return self

    def __exit__(self, *_: object) -> None:
        self.server.server_close()

    @property
    def port(self) -> int:
        return int(self.server.server_port)

    @property
    def address(self) -> str:
        """The redirect URI; any port is registered (RFC 8252, section 7.3)."""
        return f"http://127.0.0.1:{self.port}/callback"

    def wait_for(self, state: str, issuer: str) -> dict[str, str]:
        """What the browser brought; empty when nobody came."""
        self.expected = (state, issuer)
        ends = time.monotonic() + _PATIENCE_SECONDS
        while not self.said and time.monotonic() < ends:
            self.server.handle_request()
        return self.said

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Take the one good callback; whatever else a page on this machine sends changes nothing."""
        parts = urlsplit(request.path)
        said = dict(parse_qsl(parts.query))
        good = parts.path == "/callback" and (said.get("state"), said.get("iss")) == self.expected
        if good:
            self.said = said
        sentence = "Signed in." if good and "code" in said else "Not signed in."
        body = _PAGE.format(sentence=sentence).encode()
        request.send_response(200 if good else 400)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)
