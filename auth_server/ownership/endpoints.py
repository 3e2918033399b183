"""JSON routes of a person's own proofs of maintainership."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, status

from auth_server.ownership.dependencies import OwnProofs, Proves
from auth_server.ownership.models import OwnershipChallenge, OwnershipProof
from auth_server.ownership.schemas import ChallengeRead, ProofBegin, ProofFinish, ProofRead
from auth_server.sessions.dependencies import FreshSession, SignedInSession
from shared.web import csrf

router = APIRouter(prefix="/auth/api/v1/proofs", tags=["proofs"], dependencies=[Depends(csrf.require_token)])


def _namespace(request: Request) -> str:
    namespace: str = request.app.state.resources.settings.ownership.namespace
    return namespace


Namespace = Annotated[str, Depends(_namespace)]


@router.get("", response_model=list[ProofRead])
async def list_proofs(signed_in: SignedInSession, proofs: OwnProofs) -> list[OwnershipProof]:
    """What the person has proved: the proof that clients are told of first."""
    return list(await proofs.list(signed_in.account_id))


@router.post("/challenges", status_code=status.HTTP_201_CREATED)
async def begin_proof(
    wanted: ProofBegin, signed_in: FreshSession, proves: Proves, namespace: Namespace
) -> ChallengeRead:
    """A text to be signed by a key of the maintainer; needs a fresh passkey."""
    names, asn = await proves.candidates(wanted)
    return _read(await proves.begin(signed_in, names[0], asn), namespace)


@router.get("/challenges/{challenge_id}")
async def get_challenge(
    challenge_id: UUID, signed_in: SignedInSession, proves: Proves, namespace: Namespace
) -> ChallengeRead:
    """An open challenge of this browser."""
    return _read(await proves.get(signed_in, challenge_id), namespace)


@router.post("/challenges/{challenge_id}", status_code=status.HTTP_201_CREATED, response_model=ProofRead)
async def finish_proof(
    challenge_id: UUID, answer: ProofFinish, signed_in: SignedInSession, proves: Proves
) -> OwnershipProof:
    """Show the signature. Each challenge makes one proof, and looks at five signatures."""
    return await proves.finish(signed_in, challenge_id, answer)


@router.put("/{proof_id}/active", status_code=status.HTTP_204_NO_CONTENT)
async def choose_proof(proof_id: UUID, signed_in: SignedInSession, proofs: OwnProofs) -> None:
    """Let clients be told of this one."""
    await proofs.choose(signed_in.account_id, proof_id, signed_in.principal)


@router.delete("/{proof_id}", status_code=status.HTTP_204_NO_CONTENT)
async def withdraw_proof(proof_id: UUID, signed_in: SignedInSession, proofs: OwnProofs) -> None:
    """End a proof, and what clients were given by it."""
    await proofs.withdraw(signed_in.account_id, proof_id, signed_in.principal)


def _read(challenge: OwnershipChallenge, namespace: str) -> ChallengeRead:
    return ChallengeRead.model_validate(challenge).model_copy(update={"namespace": namespace})
