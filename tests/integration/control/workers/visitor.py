"""Somebody with a browser and a passkey, who is sent to whichever worker the test names."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2 as httpx

from shared.testing.authenticator import Authenticator

HTML = {"Accept": "text/html"}
API = "/auth/api/v1"


@dataclass
class Visitor:
    """A browser whose cookies belong to the one origin, whatever process it is sent to."""

    client: httpx.AsyncClient
    origin: str
    authenticator: Authenticator
    cookies: dict[str, str] = field(default_factory=lambda: {"__Host-rl_csrf": secrets.token_urlsafe(32)})

    async def send(self, method: str, address: str, **options: Any) -> httpx.Response:
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "X-CSRF-Token": self.cookies["__Host-rl_csrf"],
            "Origin": self.origin,
            **options.pop("headers", {}),
        }
        answer = await self.client.request(method, address, headers=headers, **options)
        for header in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(header).items():
                self.cookies[name] = morsel.value
        return answer

    async def ceremony(self, path: str, act: str, **wanted: str) -> httpx.Response:
        """Ask for options, use the passkey, and answer."""
        begun = await self.send("POST", f"{self.origin}{API}/{path}/options", json=wanted)
        assert begun.status_code == 200, begun.text
        options = begun.json()
        credential = getattr(self.authenticator, act)(options["options"])
        proof = {"ceremony": options["ceremony"], "credential": credential}
        if "invitation" in wanted:
            proof["invitation"] = wanted["invitation"]
        return await self.send("POST", f"{self.origin}{API}/{path}", json=proof)

    async def accept(self, invitation: str, name: str) -> None:
        """Make an account with a passkey, and forget that one is signed in by that."""
        secret = urlsplit(invitation).path.rsplit("/", 1)[1]
        answer = await self.ceremony(
            "invitations/accept", "create", invitation=secret, name=name, display_name=name.title()
        )
        assert answer.status_code == 201, answer.text
        del self.cookies["__Host-rl_auth"]

    async def callback_of(self, worker: str) -> str:
        """Begin at a worker, use the passkey at the sign-in service; the path to come back to."""
        page = await self.send("GET", f"{worker}/sign-in", headers=HTML)
        token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        assert token is not None, page.text
        form = {"csrf_token": token[1], "next": "/nodes"}
        sent = await self.send("POST", f"{worker}/sign-in", data=form, headers=HTML)
        assert sent.status_code == 303, sent.text
        asked = await self.send("GET", sent.headers["location"], headers=HTML)
        shown = urlsplit(asked.headers["location"])
        assert shown.path == "/auth/sign-in"
        answer = await self.ceremony("sign-in", "get")
        assert answer.status_code == 200, answer.text
        then = dict(parse_qsl(shown.query))["next"]
        back = urlsplit((await self.send("GET", f"{self.origin}{then}", headers=HTML)).headers["location"])
        return f"{back.path}?{back.query}"
