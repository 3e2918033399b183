"""Portal routes of proving: what is to be proved, how to sign, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel

from auth_server.ownership.dependencies import OwnProofs, Proves
from auth_server.ownership.models import OwnershipChallenge
from auth_server.ownership.rules.pasted import holds_private_key
from auth_server.ownership.schemas import ProofBegin, ProofFinish
from auth_server.sessions.dependencies import FreshForForm, SignedInSession
from auth_server.sessions.rules import FIRST_PAGE
from shared.kernel.errors import AppError, Unavailable
from shared.web.forms import FormRefused, drawn_again, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render

router = APIRouter(prefix="/auth/account/proofs", include_in_schema=False)


class Pasted(BaseModel):
    """What stands in the fields, whatever it is; it is judged afterwards, so that nothing typed is lost."""

    signature: str = ""
    public_key: str = ""


@router.get("/new")
async def show_beginning(request: Request, _signed_in: SignedInSession) -> Response:
    """What is to be proved."""
    return _beginning(request, {"subject": ""})


@router.post("")
async def begin_proof(
    request: Request,
    signed_in: FreshForForm,
    proves: Proves,
    subject: Annotated[str, Form()] = "",
    mntner: Annotated[str, Form()] = "",
) -> Response:
    """A challenge, or the choice between several maintainers of an AS number."""
    typed = {"subject": subject, "mntner": mntner}
    with _shown_again(lambda refusal: _beginning(request, typed, refusal)):
        wanted = parse(ProofBegin, typed)
        names, asn = await proves.candidates(wanted)
        if len(names) > 1:
            return _beginning(request, typed, names=names)
        challenge = await proves.begin(signed_in, names[0], asn)
    return RedirectResponse(f"/auth/account/proofs/{challenge.id}", status_code=303)


@router.get("/{challenge_id}")
async def show_challenge(
    request: Request, challenge_id: UUID, signed_in: SignedInSession, proves: Proves
) -> Response:
    """The text, and the commands that sign it."""
    return _challenge(request, await proves.get(signed_in, challenge_id), {})


@router.post("/{challenge_id}")
async def finish_proof(
    request: Request,
    challenge_id: UUID,
    signed_in: SignedInSession,
    proves: Proves,
    pasted: Annotated[Pasted, Form()],
) -> Response:
    """Show the signature."""
    challenge = await proves.get(signed_in, challenge_id)
    typed = pasted.model_dump()
    with _shown_again(lambda refusal: _challenge(request, challenge, typed, refusal)):
        await proves.finish(signed_in, challenge_id, parse(ProofFinish, typed))
    return RedirectResponse(FIRST_PAGE, status_code=303)


@router.post("/{proof_id}/choose")
async def choose_proof(proof_id: UUID, signed_in: SignedInSession, proofs: OwnProofs) -> Response:
    """Let clients be told of this one."""
    await proofs.choose(signed_in.account_id, proof_id, signed_in.principal)
    return RedirectResponse(FIRST_PAGE, status_code=303)


@router.post("/{proof_id}/withdraw")
async def withdraw_proof(proof_id: UUID, signed_in: SignedInSession, proofs: OwnProofs) -> Response:
    """End a proof."""
    await proofs.withdraw(signed_in.account_id, proof_id, signed_in.principal)
    return RedirectResponse(FIRST_PAGE, status_code=303)


@contextmanager
def _shown_again(draw: Callable[[AppError], Response]) -> Iterator[None]:
    """The form again with what was typed, also where the registry does not answer: nothing is lost."""
    try:
        with drawn_again(draw):
            yield
    except Unavailable as refusal:
        raise FormRefused(refusal, draw) from refusal


def _beginning(
    request: Request,
    typed: Mapping[str, str],
    refusal: AppError | None = None,
    names: Sequence[str] = (),
) -> Response:
    return _page(request, "ownership/begin.html", refusal, typed=typed, names=names)


def _challenge(
    request: Request,
    challenge: OwnershipChallenge,
    typed: Mapping[str, str],
    refusal: AppError | None = None,
) -> Response:
    # A private key is shown to nobody again, not even to who pasted it.
    shown = {name: "" if holds_private_key(text) else text for name, text in typed.items()}
    return _page(request, "ownership/challenge.html", refusal, challenge=challenge, typed=shown)


def _page(request: Request, template: str, refusal: AppError | None, **values: Any) -> Response:
    page = render(
        request,
        template,
        status_code=STATUS_OF_KIND[refusal.kind] if refusal else 200,
        refused=refusal.code if refusal else "",
        **values,
    )
    if refusal is not None and refusal.retry_after is not None:
        page.headers["Retry-After"] = str(math.ceil(refusal.retry_after.total_seconds()))
    return page
