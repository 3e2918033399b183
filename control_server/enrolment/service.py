"""Enrolment: a one-shot token and proof of an identity key make an agent the agent of a node."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from control_server.agents.models import Agent
from control_server.agents.service import AgentDirectory
from control_server.audit.service import Audit
from control_server.enrolment import rules
from control_server.enrolment.errors import (
    AnotherIdentity,
    ChallengeRefused,
    EnrolmentTokenNotFound,
    EnrolmentTokenRefused,
    KeyInUse,
    ProofRefused,
    RegistrationDecided,
    RegistrationNotFound,
    TooManyChallenges,
)
from control_server.enrolment.models import EnrolmentNonce, EnrolmentToken, Registration
from control_server.enrolment.repository import EnrolmentRepository
from control_server.enrolment.schemas import (
    EnrolmentTokenCreate,
    EnrolmentTokenCreated,
    EnrolmentTokenRead,
    RegistrationRead,
)
from control_server.nodes.schemas import NodeCreate
from control_server.nodes.service import NodeService
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Principal, PrincipalKind
from shared.kernel.secrets import digest_of, mint
from shared.protocol.enrolment import EnrolmentChallenge, EnrolmentRequest, EnrolmentResult

_CHALLENGE_LIFE = timedelta(minutes=5)
_CHALLENGES_AT_MOST = 10_000
_CHALLENGES_A_PLACE = 100
_ASK_AGAIN_SECONDS = 5.0
_LISTED = 200


@dataclass(frozen=True, slots=True)
class EnrolmentService:
    """Tokens, registrations and the enrolment itself."""

    enrolments: EnrolmentRepository
    nodes: NodeService
    agents: AgentDirectory
    audit: Audit
    now: Clock

    # --- for administrators

    async def create_token(self, actor: Principal, wanted: EnrolmentTokenCreate) -> EnrolmentTokenCreated:
        """Mint a one-shot token."""
        secret = mint("rle")
        at = self.now()
        row = EnrolmentToken(
            id=secret.id,
            digest=secret.digest,
            node_id=wanted.node_id,
            created_by=actor.name,
            created_at=at,
            expires_at=at + timedelta(seconds=wanted.expires_in),
            consumed_at=None,
            revoked_at=None,
        )
        self.enrolments.add(row)
        after = {"node_id": wanted.node_id, "expires_in": wanted.expires_in}
        self.audit.note(actor, "enrolment_token.created", ("enrolment_token", secret.id), after=after)
        return EnrolmentTokenCreated(
            token_id=secret.id, token=secret.text, node_id=wanted.node_id, expires_at=row.expires_at
        )

    async def list_tokens(self) -> Sequence[EnrolmentTokenRead]:
        """The newest tokens, without their secrets."""
        return [self._read_token(row) for row in await self.enrolments.list_tokens(_LISTED)]

    async def revoke_token(self, actor: Principal, token_id: str) -> None:
        """Make an unused token useless. Raises EnrolmentTokenNotFound."""
        if await self.enrolments.revoke_token(token_id, self.now()) is None:
            raise EnrolmentTokenNotFound
        self.audit.note(actor, "enrolment_token.revoked", ("enrolment_token", token_id))

    async def list_registrations(self, state: str | None) -> Sequence[RegistrationRead]:
        """The newest registrations."""
        return [_read(row) for row in await self.enrolments.list_registrations(state, _LISTED)]

    async def approve(self, actor: Principal, ident: UUID, node_id: str | None) -> RegistrationRead:
        """Let the agent in as this node at its next attempt. Raises RegistrationNotFound or …Decided."""
        await self._decidable(ident)
        row = await self.enrolments.claim_registration(
            ident, was="pending", becomes="approved", node_id=node_id
        )
        return self._decided(actor, row, "registration.approved")

    async def reject(self, actor: Principal, ident: UUID) -> RegistrationRead:
        """Turn the agent away. Raises RegistrationNotFound or RegistrationDecided."""
        await self._decidable(ident)
        row = await self.enrolments.claim_registration(ident, was="pending", becomes="rejected")
        return self._decided(actor, row, "registration.rejected")

    # --- for agents

    async def challenge(self, asked_by: str) -> EnrolmentChallenge:
        """A nonce to sign for a caller at this address. Raises TooManyChallenges."""
        at = self.now()
        await self.enrolments.forget_challenges(at)
        crowded = await self.enrolments.count_challenges(asked_by) >= _CHALLENGES_A_PLACE
        if crowded or await self.enrolments.count_challenges() >= _CHALLENGES_AT_MOST:
            raise TooManyChallenges(retry_after=timedelta(seconds=30))
        nonce = secrets.token_urlsafe(32)
        expires_at = at + _CHALLENGE_LIFE
        self.enrolments.add(
            EnrolmentNonce(challenge=nonce, expires_at=expires_at, consumed_at=None, asked_by=asked_by)
        )
        return EnrolmentChallenge(challenge=nonce, expires_at=expires_at)

    async def enrol(self, request: EnrolmentRequest, from_address: str) -> EnrolmentResult:
        """Admit the agent, queue it, or say what became of its registration."""
        if (request.token is None) == (request.registration_id is None):
            raise EnrolmentTokenRefused("Send either `token` or `registration_id`.")
        if not await self.enrolments.claim_challenge(request.challenge, self.now()):
            raise ChallengeRefused
        if not rules.proves_identity(request):
            raise ProofRefused
        if request.registration_id is not None:
            return await self._follow_up(request, request.registration_id)
        token = await self.enrolments.claim_token(digest_of(request.token or ""), self.now())
        if token is None:
            raise EnrolmentTokenRefused
        if token.node_id is None:
            return self._queue(request, token, from_address)
        if request.node_id not in {None, token.node_id}:
            raise EnrolmentTokenRefused(f"This token is for the node {token.node_id}.")
        return await self._admit(request, token.node_id)

    # --- steps

    async def _follow_up(self, request: EnrolmentRequest, ident: UUID) -> EnrolmentResult:
        row = await self.enrolments.find_registration(ident)
        if row is None or row.public_key != request.public_key:
            raise RegistrationNotFound
        if row.state == "pending":
            return EnrolmentResult(
                state="pending", registration_id=ident, retry_after_seconds=_ASK_AGAIN_SECONDS
            )
        if row.state == "rejected":
            return EnrolmentResult(state="rejected", registration_id=ident)
        if await self.enrolments.claim_registration(ident, was="approved", becomes="enrolled") is None:
            raise RegistrationDecided("This registration is enrolled already.")
        return await self._admit(request, row.node_id)

    def _queue(self, request: EnrolmentRequest, token: EnrolmentToken, from_address: str) -> EnrolmentResult:
        row = Registration(
            id=new_uuid(),
            token_id=token.id,
            node_id=rules.proposed_node_id(request.node_id, request.hostname),
            public_key=request.public_key,
            hostname=request.hostname,
            agent_version=request.agent_version,
            capabilities=request.capabilities.model_dump(),
            from_address=from_address,
            state="pending",
            created_at=self.now(),
            decided_at=None,
            decided_by=None,
        )
        self.enrolments.add(row)
        actor = _agent(row.node_id)
        after = {"hostname": row.hostname, "key": rules.fingerprint(row.public_key)}
        self.audit.note(actor, "registration.created", ("registration", str(row.id)), after=after)
        return EnrolmentResult(
            state="pending", registration_id=row.id, retry_after_seconds=_ASK_AGAIN_SECONDS
        )

    async def _admit(self, request: EnrolmentRequest, node_id: str) -> EnrolmentResult:
        actor = _agent(node_id)
        owner = await self.agents.find_by_key(request.public_key)
        if owner is not None and owner.node_id != node_id:
            raise KeyInUse(f"This identity key belongs to the node {owner.node_id}.")
        agent = await self.agents.find(node_id)
        if agent is not None and agent.public_key != request.public_key:
            raise AnotherIdentity(
                f"{node_id} is enrolled with another identity key. If the machine was replaced, an"
                " administrator resets the node's agent first."
            )
        await self.nodes.ensure(actor, NodeCreate(node_id=node_id))
        agent = agent or self._new_agent(request, node_id)
        token = await self.agents.admit(agent)
        after = {"hostname": request.hostname, "key": rules.fingerprint(request.public_key)}
        self.audit.note(actor, "agent.enrolled", ("node", node_id), after=after)
        return EnrolmentResult(state="enrolled", node_id=node_id, agent_token=token)

    def _new_agent(self, request: EnrolmentRequest, node_id: str) -> Agent:
        return Agent(
            node_id=node_id,
            public_key=request.public_key,
            agent_version=request.agent_version,
            hostname=request.hostname,
            capabilities=request.capabilities.model_dump(),
            enrolled_at=self.now(),
            connected_at=None,
            disconnected_at=None,
            last_seen_at=None,
        )

    async def _decidable(self, ident: UUID) -> None:
        if await self.enrolments.find_registration(ident) is None:
            raise RegistrationNotFound

    def _decided(self, actor: Principal, row: Registration | None, action: str) -> RegistrationRead:
        if row is None:
            raise RegistrationDecided
        row.decided_at = self.now()
        row.decided_by = actor.name
        self.audit.note(actor, action, ("registration", str(row.id)), after={"node_id": row.node_id})
        return _read(row)

    def _read_token(self, row: EnrolmentToken) -> EnrolmentTokenRead:
        state = "open"
        if row.revoked_at is not None:
            state = "revoked"
        elif row.consumed_at is not None:
            state = "used"
        elif row.expires_at < self.now():
            state = "expired"
        return EnrolmentTokenRead.model_validate(
            {
                "token_id": row.id,
                "node_id": row.node_id,
                "created_by": row.created_by,
                "created_at": row.created_at,
                "expires_at": row.expires_at,
                "state": state,
            }
        )


def _agent(node_id: str) -> Principal:
    return Principal(id=f"agent:{node_id}", kind=PrincipalKind.AGENT, name=f"agent {node_id}")


def _read(row: Registration) -> RegistrationRead:
    facts = {name: getattr(row, name) for name in RegistrationRead.model_fields if name != "key_fingerprint"}
    return RegistrationRead.model_validate({**facts, "key_fingerprint": rules.fingerprint(row.public_key)})
