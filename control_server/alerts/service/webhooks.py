"""One signed request to one receiver: to an address that was judged, and nowhere else."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit
from uuid import UUID

import httpx2

from control_server.alerts.errors import DeliveryFailed, ReceiverRefused
from control_server.alerts.rules import receivers, refusal, signature
from control_server.settings import AlertSettings
from shared.kernel.clock import Clock
from shared.kernel.targets import Address, TargetPolicy, parse_address

#: So much of an answer is read before the connection is closed; nothing of it is kept.
_ANSWER_BYTES = 16_384
_AGENT = "Routeloom-Webhook/1"

#: Answers the addresses of a host.
Resolver = Callable[[str, int], Awaitable[Sequence[Address]]]


async def resolve(host: str, port: int) -> Sequence[Address]:
    """The addresses that this host's resolver gives. Raises DeliveryFailed."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise DeliveryFailed(f"{host} has no address.") from error
    return [parse_address(str(entry[4][0])) for entry in found]


@dataclass(frozen=True, slots=True)
class Webhooks:
    """Sends. Takes no proxy and follows no redirect: either would lead to where nobody judged."""

    settings: AlertSettings
    now: Clock
    resolver: Resolver = resolve

    async def check(self, url: str) -> Address:
        """The address to call. Raises ReceiverRefused when any address of the host may not be called."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        found = list(await self.resolver(host, parts.port or _port(parts.scheme)))
        settings = self.settings
        reason = refusal(found, receivers_of(settings)) if found else "it has no address"
        if reason is not None:
            raise ReceiverRefused(f"{host} may not be called: {reason}.")
        return found[0]

    async def send(self, url: str, secret: str, delivery_id: UUID, body: str) -> None:
        """Deliver, or raise DeliveryFailed or ReceiverRefused with what to tell the operator."""
        try:
            async with asyncio.timeout(self.settings.seconds):
                status = await self._post(url, secret, delivery_id, body)
        except TimeoutError:
            raise DeliveryFailed(f"No answer within {self.settings.seconds:g} s.") from None
        except httpx2.HTTPError as error:
            raise DeliveryFailed(f"The receiver cannot be reached ({type(error).__name__}).") from error
        if httpx2.codes.is_redirect(status):
            raise DeliveryFailed(f"The receiver answered {status}; redirects are not followed.")
        if not httpx2.codes.is_success(status):
            raise DeliveryFailed(f"The receiver answered {status}.")

    async def _post(self, url: str, secret: str, delivery_id: UUID, body: str) -> int:
        address = await self.check(url)
        timestamp = int(self.now().timestamp())
        target = httpx2.URL(url)
        headers = {
            "Host": target.netloc.decode("ascii"),
            "Content-Type": "application/json",
            "User-Agent": _AGENT,
            "Idempotency-Key": str(delivery_id),
            "Routeloom-Timestamp": str(timestamp),
            "Routeloom-Signature": signature(secret, timestamp, body),
        }
        # The address that was judged is the one that is called: a name could answer otherwise a moment later.
        direct = target.copy_with(host=str(address))
        named = {"sni_hostname": target.host} if target.scheme == "https" else {}
        async with (
            httpx2.AsyncClient(
                verify=_authorities(),
                timeout=self.settings.seconds,
                trust_env=False,
                follow_redirects=False,
            ) as client,
            client.stream("POST", direct, content=body.encode(), headers=headers, extensions=named) as answer,
        ):
            received = 0
            async for chunk in answer.aiter_raw():
                received += len(chunk)
                if received > _ANSWER_BYTES:
                    break
            return answer.status_code


def receivers_of(settings: AlertSettings) -> TargetPolicy:
    """Which addresses may be called."""
    return receivers(settings.targets, settings.allow, allow_loopback=settings.allow_loopback)


@cache
def _authorities() -> ssl.SSLContext:
    """Those of the host; reading them takes longer than a request."""
    return ssl.create_default_context()


def _port(scheme: str) -> int:
    return 443 if scheme == "https" else 80
