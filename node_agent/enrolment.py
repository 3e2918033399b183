"""Becoming a node's agent: prove the identity key, take the agent token, wait for approval if need be."""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import httpx2
import structlog
from pydantic import BaseModel, ValidationError

from node_agent import state
from node_agent.errors import EnrolmentRefused, ServerUnreachable
from shared import __version__
from shared.protocol.enrolment import (
    EnrolmentChallenge,
    EnrolmentRequest,
    EnrolmentResult,
    signed_message,
)
from shared.protocol.frames import Capabilities

if TYPE_CHECKING:
    from uuid import UUID

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from node_agent.settings import AgentSettings

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]
Answer = TypeVar("Answer", bound=BaseModel)

#: Between two questions whether the registration is approved, unless the server says otherwise.
_POLL_SECONDS = 5.0
_GREATEST_POLL_SECONDS = 300.0
_TIMEOUT_SECONDS = 10.0
_TRY_LATER = frozenset({httpx2.codes.REQUEST_TIMEOUT, httpx2.codes.TOO_MANY_REQUESTS})


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What the server made of this agent."""

    node_id: str
    agent_token: str = field(repr=False)


async def enrol(
    settings: AgentSettings,
    token: str | None = None,
    *,
    capabilities: Capabilities | None = None,
    sleep: Sleep = asyncio.sleep,
) -> Enrolment:
    """Enrol with a one-shot token, or go on waiting for a registration that was begun before.

    Returns when the agent token stands in its file. While the registration waits for approval this
    polls; cancelled or restarted, a later call goes on where this one was. Raises EnrolmentRefused,
    ServerUnreachable or StateDirectoryUnusable.
    """
    state.prepare(settings.state_directory)
    applicant = _Applicant(settings, state.identity(settings.state_directory), capabilities or Capabilities())
    registration = None if token else state.waiting_registration(settings.state_directory)
    if not token and registration is None:
        raise EnrolmentRefused("Enrolment needs a one-shot token.")
    async with httpx2.AsyncClient(
        base_url=settings.server_url, timeout=_TIMEOUT_SECONDS, trust_env=not settings.server_is_local
    ) as client:
        result = await applicant.apply(client, token, registration)
        while result.state == "pending":
            registration = result.registration_id or registration
            state.keep_registration(settings.state_directory, registration)
            log.info("agent.enrolment_waits", registration=str(registration))
            await sleep(min(result.retry_after_seconds or _POLL_SECONDS, _GREATEST_POLL_SECONDS))
            result = await applicant.ask_again(client, registration, result)
    return _settle(settings, result)


def _settle(settings: AgentSettings, result: EnrolmentResult) -> Enrolment:
    state.keep_registration(settings.state_directory, None)
    if result.state == "rejected":
        raise EnrolmentRefused("An administrator rejected this agent.")
    if not result.agent_token or not result.node_id:
        raise EnrolmentRefused("The server's answer holds no agent token.")
    state.write_private(settings.token_path, f"{result.agent_token}\n")
    state.write_private(settings.state_directory / "node-id", f"{result.node_id}\n")
    log.info("agent.enrolled", node=result.node_id)
    return Enrolment(node_id=result.node_id, agent_token=result.agent_token)


@dataclass(frozen=True, slots=True)
class _Applicant:
    settings: AgentSettings
    key: Ed25519PrivateKey
    capabilities: Capabilities

    async def apply(
        self, client: httpx2.AsyncClient, token: str | None, registration: UUID | None
    ) -> EnrolmentResult:
        """One round: take a challenge, sign it, post the proof."""
        given = await _post(client, "/api/v1/agent/enrol/challenges", None, EnrolmentChallenge)
        credential = token or str(registration)
        message = signed_message(given.challenge, credential, self.settings.node_id)
        request = EnrolmentRequest(
            token=token,
            registration_id=registration,
            node_id=self.settings.node_id,
            public_key=state.public_text(self.key),
            challenge=given.challenge,
            signature=base64.b64encode(self.key.sign(message)).decode(),
            agent_version=__version__,
            hostname=socket.gethostname()[:253],
            capabilities=self.capabilities,
        )
        return await _post(client, "/api/v1/agent/enrol", request, EnrolmentResult)

    async def ask_again(
        self, client: httpx2.AsyncClient, registration: UUID | None, last: EnrolmentResult
    ) -> EnrolmentResult:
        """Ask whether it is approved; a server that is away for a while means `still waiting`."""
        try:
            return await self.apply(client, None, registration)
        except ServerUnreachable as error:
            log.warning("agent.enrolment_interrupted", reason=error.detail)
            return last


async def _post(
    client: httpx2.AsyncClient, path: str, body: BaseModel | None, answer: type[Answer]
) -> Answer:
    content = body.model_dump_json() if body is not None else "{}"
    try:
        response = await client.post(path, content=content, headers={"Content-Type": "application/json"})
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise ServerUnreachable(f"{client.base_url} does not answer: {type(error).__name__}.") from error
    if response.status_code >= httpx2.codes.INTERNAL_SERVER_ERROR or response.status_code in _TRY_LATER:
        raise ServerUnreachable(f"{client.base_url} answered {response.status_code}.")
    if not response.is_success:
        raise EnrolmentRefused(_detail(response))
    try:
        return answer.model_validate_json(response.content)
    except ValidationError:
        raise ServerUnreachable(f"{client.base_url} is not a Routeloom control server.") from None


def _detail(response: httpx2.Response) -> str:
    """The sentence of a problem document (RFC 9457), or the bare status."""
    try:
        detail = response.json().get("detail")
    except (ValueError, AttributeError):
        detail = None
    return str(detail)[:500] if detail else f"The server refused the enrolment ({response.status_code})."
