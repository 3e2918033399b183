"""What is reached over HTTP: the public address and its certificate, and the services among themselves."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
from cryptography import x509

from auth_server.settings import AuthSettings
from control_server.settings import ControlSettings
from routeloom.doctor.clocks import compared
from routeloom.doctor.findings import Finding, good, note, problem

if TYPE_CHECKING:
    from routeloom.doctor.deployment import Deployment

_SECONDS = 5.0
_READY = {"control": "/readyz", "auth": "/auth/readyz", "registry": "/registry/readyz"}
_SOON, _VERY_SOON = timedelta(days=21), timedelta(days=5)
_RENEW = "docker compose -f docker-compose/compose.yaml logs proxy   # says why it was not renewed"


async def look_at_network(deployment: Deployment) -> list[Finding]:
    """Findings about every address that a service or a person uses."""
    found: list[Finding] = []
    async with httpx2.AsyncClient(timeout=_SECONDS) as client:
        for what, url in _addresses(deployment):
            found += await _asked(client, what, url)
    found += await _certificate(deployment.public_url)
    return found


def _addresses(deployment: Deployment) -> Iterator[tuple[str, str]]:
    for name in deployment.services:
        yield f"{name} at the public address", f"{deployment.public_url}{_READY[name]}"
    seen = set()
    for settings in deployment.services.values():
        for name, url in _inner(settings):
            if url and (name, url) not in seen:
                seen.add((name, url))
                yield f"{name} at its inner address", f"{url.rstrip('/')}{_READY.get(name, '/')}"


def _inner(settings: object) -> Iterator[tuple[str, str]]:
    if isinstance(settings, ControlSettings):
        yield "auth", settings.auth_url
        yield "registry", settings.registry_url
    if isinstance(settings, AuthSettings):
        yield "registry", settings.registry_url
        yield "captcha", settings.cap_verify_url or settings.cap_url


async def _asked(client: httpx2.AsyncClient, what: str, url: str) -> list[Finding]:
    remedy = f"curl -v {url}"
    before = datetime.now(UTC)
    try:
        answer = await client.get(url)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        reason = str(error) or type(error).__name__
        return [problem("reachability", f"{what} does not answer ({reason}).", remedy)]
    if answer.status_code >= httpx2.codes.INTERNAL_SERVER_ERROR:
        return [problem("reachability", f"{what} answers {answer.status_code}.", remedy)]
    found = [good("reachability", f"{what} answers.")]
    if (date := answer.headers.get("date")) and "public" in what:
        # The header has whole seconds, and a proxy or a cache may be a little behind.
        told = parsedate_to_datetime(date)
        found.append(compared("the public address", told, before, timedelta(seconds=2)))
    return found


async def _certificate(url: str) -> list[Finding]:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        return [note("certificate", f"{url or 'No public address'} has no certificate.")] if url else []
    try:
        der = await asyncio.to_thread(_fetch, parts.hostname, parts.port or 443)
    except OSError:
        return []  # said as unreachable above
    return [judged(x509.load_der_x509_certificate(der), parts.hostname, datetime.now(UTC))]


def _fetch(host: str, port: int) -> bytes:
    """The certificate as it is, good or not: whether it is trusted is what the requests above show."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection((host, port), timeout=_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=host) as link,
    ):
        return link.getpeercert(binary_form=True) or b""


def judged(certificate: x509.Certificate, host: str, now: datetime) -> Finding:
    """How long it is still good."""
    ends = certificate.not_valid_after_utc
    day = f"{ends:%Y-%m-%d}"
    if certificate.not_valid_before_utc > now:
        return problem("certificate", f"The certificate of {host} is not valid before it begins.", "date")
    if ends <= now:
        return problem("certificate", f"The certificate of {host} ended on {day}.", _RENEW)
    if ends - now <= _VERY_SOON:
        return problem("certificate", f"The certificate of {host} ends on {day}, within days.", _RENEW)
    if ends - now <= _SOON:
        return note("certificate", f"The certificate of {host} ends on {day}.", _RENEW)
    return good("certificate", f"The certificate of {host} is good until {day}.")
