"""Clients that leave a request here for a person to come: what is kept for nobody has its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from auth_server.clients.models import Client
from auth_server.keys import SIGN_IN_FAILURES
from auth_server.resources import AuthResources
from auth_server.sessions.rules import place_of
from auth_server.tokens.dependencies.requests import AuthenticatedClient, address_of
from auth_server.tokens.errors import TooManyLeft
from shared.cache.failures import FailureCounter, failure_counters, subject_digest
from shared.kernel.clock import Clock


@dataclass(frozen=True, slots=True)
class LeftRequests:
    """Requests that public clients leave for a person to come, counted by address (IPv6: one /64).

    Anybody can send them in the name of a public client, so not the client is counted: nobody locks it out.
    """

    counters: Sequence[FailureCounter]
    now: Clock
    limit: int

    async def note(self, address: str) -> None:
        """One more came from there. Raises TooManyLeft."""
        subject = subject_digest(f"left:{place_of(address)}")
        views = [await counter.add(subject) for counter in self.counters]
        worst = max(views, key=lambda view: view.count)
        if worst.count > self.limit:
            raise TooManyLeft(retry_after=worst.ends_at - self.now())


def left_requests(resources: AuthResources) -> LeftRequests:
    """One for the life of the process."""
    counters = failure_counters(resources.kv, SIGN_IN_FAILURES, resources.now)
    return LeftRequests(counters, resources.now, resources.settings.tokens.left_per_address)


async def _leaving(request: Request, client: AuthenticatedClient) -> Client:
    if not client.is_confidential:
        await request.app.state.left_requests.note(address_of(request))
    return client


LeavingClient = Annotated[Client, Depends(_leaving)]
