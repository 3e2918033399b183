"""Wiring of the captcha, and the policy of pages that show it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response

from auth_server.captcha.service import Captcha
from auth_server.captcha.store import CapServer
from auth_server.resources import AuthResources
from auth_server.settings import AuthSettings
from shared.cache.failures import subject_digest
from shared.cache.throttling import SignInThrottle
from shared.web.middleware import CONTENT_SECURITY_POLICY
from shared.web.rendering import render


def captcha_of(resources: AuthResources, throttle: SignInThrottle) -> Captcha:
    """The captcha of this installation, or one that never asks."""
    settings = resources.settings

    async def failures(place: str) -> int:
        digest = subject_digest(place)
        return max([(await counter.read(digest)).count for counter in throttle.counters])

    server = None
    if settings.cap_url:
        inside = _address(settings.cap_verify_url or settings.cap_url, settings.cap_site_key)
        server = CapServer(resources.http, inside, settings.cap_secret.get_secret_value())
    return Captcha(server, settings.captcha_after, failures)


def _address(url: str, site_key: str) -> str:
    return f"{url.rstrip('/')}/{site_key}/"


def _captcha(request: Request) -> Captcha:
    return captcha_of(request.app.state.resources, request.app.state.throttle)


PublicCaptcha = Annotated[Captcha, Depends(_captcha)]


@dataclass(frozen=True, slots=True)
class ShownCaptcha:
    """What a page needs to show it."""

    #: Where the browser asks for a challenge, and redeems it.
    endpoint: str
    #: Lets the widget's own style sheet in, and no other.
    nonce: str

    @property
    def policy(self) -> str:
        """The usual policy and the least that the widget needs.

        Its solver is WebAssembly in a worker that it makes of a blob, its style is in its shadow tree, and
        it speaks with the Cap server.
        """
        parts = urlsplit(self.endpoint)
        origin = f"{parts.scheme}://{parts.netloc}"
        return (
            CONTENT_SECURITY_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
            .replace("style-src 'self'", f"style-src 'self' 'nonce-{self.nonce}'")
            .replace("connect-src 'self'", f"connect-src 'self' {origin}")
        ) + "; worker-src blob:"


def render_with_captcha(
    request: Request, template: str, *, due: bool, status_code: int = 200, **values: Any
) -> Response:
    """The page; with a captcha in it where that is due and there is one."""
    settings: AuthSettings = request.app.state.resources.settings
    shown = None
    if due and settings.cap_url:
        shown = ShownCaptcha(_address(settings.cap_url, settings.cap_site_key), secrets.token_urlsafe(16))
    page = render(request, template, status_code=status_code, captcha=shown, **values)
    if shown is not None:
        page.headers["Content-Security-Policy"] = shown.policy
    return page
