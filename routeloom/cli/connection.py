"""How the command line reaches a server: address and token, from options, variables or a local Lite."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
import typer
from rich.console import Console

from routeloom.cli.sign_ins import SignInEnded, SignIns
from routeloom.lite.home import Home, default_home
from shared.kernel.files import read_text_loosely

if TYPE_CHECKING:
    from collections.abc import Mapping

errors = Console(stderr=True, highlight=False)

#: Exit statuses of commands that ask a server; see `docs/reference/cli.md`.
EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Connection:
    """A server and the token to use there."""

    url: str
    token: str = field(repr=False)

    def client(self) -> httpx2.AsyncClient:
        """A client with the token; the caller closes it."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=_SECONDS)


def find_server(server: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """The option first, then `ROUTELOOM_URL`, then the Lite of this user."""
    url = server or environment.get("ROUTELOOM_URL") or _read(Home(default_home()).address)
    if not url:
        fail("No server is known. Start one with `routeloom lite`, or give --server or ROUTELOOM_URL.")
    return url.rstrip("/")


def find_connection(server: str | None, environment: Mapping[str, str] = os.environ) -> Connection:
    """The server, with the sign-in kept for it, else `ROUTELOOM_TOKEN`, else the token of the user's Lite."""
    home = Home(default_home())
    url = find_server(server, environment)
    token = _signed_in(home, url) or environment.get("ROUTELOOM_TOKEN") or _read(home.admin_token)
    if not token:
        fail("No token is known. Sign in with `routeloom login`, or set ROUTELOOM_TOKEN to an access token.")
    return Connection(url=url, token=token)


def _signed_in(home: Home, url: str) -> str:
    try:
        return SignIns(home).access_token(url)
    except SignInEnded:
        return str(
            fail(f"The sign-in to {url} has ended. Sign in again with `routeloom login`.", EXIT_REFUSED)
        )
    except httpx2.TransportError:
        return str(fail(f"{url} does not answer.", EXIT_UNREACHABLE))


def _read(path: Any) -> str:
    try:
        return read_text_loosely(path)
    except OSError:
        return ""


def fail(sentence: str, status: int = EXIT_USAGE) -> Any:
    """End with one sentence on standard error."""
    errors.print(sentence, style="red", markup=False)
    raise typer.Exit(status)


def check(response: httpx2.Response) -> Any:
    """The body of a good answer; ends the command with the server's sentence for a refusal."""
    if response.is_success:
        return response.json() if response.content else None
    try:
        problem = response.json()
        detail = problem["detail"]
        more = [f"  {e['field']}: {e['message']}" for e in problem["errors"] if e["message"] != detail]
        sentences = [detail, *more]
    except (ValueError, KeyError, TypeError):
        sentences = [f"The server answered {response.status_code}."]
    return fail("\n".join(sentences), EXIT_REFUSED)
