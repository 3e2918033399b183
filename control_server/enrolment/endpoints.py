"""JSON routes of enrolment, for administrators and for agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query, Request, Response, status

from control_server.enrolment.dependencies import EnrolmentAdmin, Enrolments
from control_server.enrolment.schemas import (
    Approval,
    EnrolmentTokenCreate,
    EnrolmentTokenCreated,
    EnrolmentTokenRead,
    RegistrationRead,
)
from shared.protocol.enrolment import EnrolmentChallenge, EnrolmentRequest, EnrolmentResult
from shared.web.routing import Router

tokens = Router(prefix="/api/v1/enrolment-tokens", tags=["enrolment"])
registrations = Router(prefix="/api/v1/registrations", tags=["enrolment"])
agents = Router(prefix="/api/v1/agent/enrol", tags=["agent"])

TokenId = Annotated[str, Path(pattern=r"^[0-9a-z]{12}$")]


@tokens.post("", status_code=status.HTTP_201_CREATED)
async def create_enrolment_token(
    admin: EnrolmentAdmin, wanted: EnrolmentTokenCreate, enrolments: Enrolments
) -> EnrolmentTokenCreated:
    """A one-shot token for one agent; its secret is shown once."""
    return await enrolments.create_token(admin, wanted)


@tokens.get("")
async def list_enrolment_tokens(
    _admin: EnrolmentAdmin, enrolments: Enrolments
) -> Sequence[EnrolmentTokenRead]:
    """The newest tokens, without their secrets."""
    return await enrolments.list_tokens()


@tokens.delete("/{token_id}", status_code=status.HTTP_204_NO_CONTENT)
async def revoke_enrolment_token(admin: EnrolmentAdmin, token_id: TokenId, enrolments: Enrolments) -> None:
    """Make an unused token useless."""
    await enrolments.revoke_token(admin, token_id)


@registrations.get("")
async def list_registrations(
    _admin: EnrolmentAdmin,
    enrolments: Enrolments,
    state: Annotated[Literal["pending", "approved", "rejected", "enrolled"] | None, Query()] = None,
) -> Sequence[RegistrationRead]:
    """Agents that wait for a decision, and those decided on."""
    return await enrolments.list_registrations(state)


@registrations.post("/{registration_id}/approve")
async def approve_registration(
    admin: EnrolmentAdmin, registration_id: UUID, approval: Approval, enrolments: Enrolments
) -> RegistrationRead:
    """Let the agent in; it is enrolled at its next attempt."""
    return await enrolments.approve(admin, registration_id, approval.node_id)


@registrations.post("/{registration_id}/reject")
async def reject_registration(
    admin: EnrolmentAdmin, registration_id: UUID, enrolments: Enrolments
) -> RegistrationRead:
    """Turn the agent away."""
    return await enrolments.reject(admin, registration_id)


@agents.post("/challenges", status_code=status.HTTP_201_CREATED)
async def create_enrolment_challenge(request: Request, enrolments: Enrolments) -> EnrolmentChallenge:
    """A nonce that the agent signs with its identity key."""
    return await enrolments.challenge(request.client.host if request.client else "")


@agents.post("", responses={202: {"model": EnrolmentResult}})
async def enrol_agent(
    request: Request, response: Response, wanted: EnrolmentRequest, enrolments: Enrolments
) -> EnrolmentResult:
    """Token and proof of the identity key → agent token (200), or `pending` (202)."""
    result = await enrolments.enrol(wanted, request.client.host if request.client else "")
    if result.state == "pending":
        response.status_code = status.HTTP_202_ACCEPTED
    return result
