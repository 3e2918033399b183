"""Lite behind a proxy that ends TLS: every address is the public one, and signing in and out works."""

import re
import secrets
import signal
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from node_agent.supervise import stop
from shared.testing.authenticator import Authenticator
from shared.testing.servers.ports import free_loopback_port
from shared.testing.tls_proxy import CLIENT_ADDRESS, make_certificate, tls_proxy
from shared.testing.waiting import wait_until
from tests.journeys.lite import Lite

pytestmark = pytest.mark.processes


@dataclass
class Visitor:
    """A browser at the public address that trusts the authority of the test."""

    origin: str
    http: httpx2.Client
    cookies: dict[str, str] = field(default_factory=lambda: {"__Host-rl_csrf": secrets.token_urlsafe(32)})
    set_cookies: list[str] = field(default_factory=list)

    def ask(self, method: str, address: str, **options: Any) -> httpx2.Response:
        headers = {
            "Accept": "text/html",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "X-CSRF-Token": self.cookies["__Host-rl_csrf"],
        }
        target = address if "://" in address else f"{self.origin}{address}"
        assert target.startswith(f"{self.origin}/"), "no address leads away from the public one"
        answer = self.http.request(method, target, headers=headers, **options)
        for line in answer.headers.get_list("set-cookie"):
            self.set_cookies.append(line)
            for name, kept in SimpleCookie(line).items():
                self.cookies[name] = kept.value
        return answer

    def follow(self, answer: httpx2.Response) -> httpx2.Response:
        while answer.is_redirect:
            answer = self.ask("GET", answer.headers["location"])
        return answer

    def accept(self, link: str, name: str) -> None:
        """Make an account with a passkey that is bound to the public address."""
        api = "/auth/api/v1/invitations/accept"
        wanted = {
            "invitation": urlsplit(link).path.rsplit("/", 1)[1],
            "name": name,
            "display_name": name.title(),
        }
        begun = self.ask("POST", f"{api}/options", json=wanted).json()
        credential = Authenticator(self.origin).create(begun["options"])
        sent = {
            "ceremony": begun["ceremony"],
            "invitation": wanted["invitation"],
            "credential": credential,
        }
        assert self.ask("POST", api, json=sent).status_code == 201


@pytest.fixture
def behind_tls(tmp_path: Path) -> Iterator[tuple[Lite, Visitor]]:
    outside, inside = free_loopback_port(), free_loopback_port()
    certificate = make_certificate(tmp_path)
    origin = f"https://localhost:{outside}"
    environment = {"PUBLIC_URL": origin, "SSL_CERT_FILE": str(certificate.authority)}
    running = Lite(home=tmp_path / "home", port=inside, environment=environment)
    with tls_proxy(outside, f"http://127.0.0.1:{inside}", certificate):
        try:
            running.start()
            trusting = ssl.create_default_context(cafile=certificate.authority)
            with httpx2.Client(verify=trusting, trust_env=False, timeout=30) as http:
                yield running, Visitor(origin, http)
        finally:
            if running.process is not None:
                running.end(signal.SIGKILL)
            stop(running.home / "agent")


async def test_signing_in_and_out_by_the_public_address(behind_tls: tuple[Lite, Visitor]) -> None:
    running, visitor = behind_tls
    assert running.url == visitor.origin
    for printed in (running.invitation, running.link):
        assert printed.startswith(f"{visitor.origin}/")
    metadata = visitor.ask("GET", "/auth/.well-known/openid-configuration").json()
    assert {urlsplit(v).netloc for v in metadata.values() if str(v).startswith("http")} == {
        urlsplit(visitor.origin).netloc
    }
    visitor.accept(running.invitation, "ada")
    landed = visitor.follow(visitor.ask("POST", "/sign-in", data={"next": "/nodes"}))
    assert (landed.status_code, landed.url.path) == (200, "/nodes")
    ours = [line for line in visitor.set_cookies if line.startswith("__Host-rl_")]
    assert all("Secure" in line and "HttpOnly" in line and "Path=/" in line for line in ours)
    events = running_audit(running, visitor)
    assert events["session.began"] == CLIENT_ADDRESS, "the proxy's word on who asks is believed"

    ended = visitor.ask("POST", "/auth/account/sign-out-everywhere", follow_redirects=False)
    assert ended.status_code in {200, 303}, ended.text

    async def is_out() -> bool:
        return visitor.ask("GET", "/nodes").status_code == 303

    await wait_until(is_out)


def running_audit(running: Lite, visitor: Visitor) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {running.token}"}
    answer = visitor.http.get(f"{visitor.origin}/api/v1/audit?limit=100", headers=headers)
    return {event["action"]: event["from_address"] for event in answer.json()["items"]}


def test_an_address_that_cannot_work_is_refused_in_one_sentence(tmp_path: Path) -> None:
    address = "http://loom.example"
    running = Lite(home=tmp_path / "home")
    done = running.run("lite", "--port", "0", "--home", str(running.home), "--public-url", address)
    assert done.returncode != 0
    assert re.search(re.escape(address), done.stderr)
    assert "Traceback" not in done.stderr
