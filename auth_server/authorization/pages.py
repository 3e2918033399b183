"""The authorization endpoint and the consent page."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import quote, urlencode
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from auth_server.authorization.dependencies import Authorization
from auth_server.authorization.errors import ConsentForged, SentBack
from auth_server.authorization.rules import ASKED_AT
from auth_server.authorization.schemas import GoOn, Outcome, SignInFirst
from auth_server.clients.dependencies import read_form, read_page_form
from auth_server.clients.rules.parameters import Parameters, parse_parameters
from auth_server.sessions.dependencies import SESSION_COOKIE, MaybeSignedIn, SignedInSession
from auth_server.sessions.rules import SIGN_IN_PAGE
from auth_server.tokens.endpoints import answer_oauth_error
from auth_server.tokens.pages import policy_for
from shared.kernel.errors import AppError
from shared.web import csrf
from shared.web.head import no_head
from shared.web.rendering import render

#: Called from other sites, which have no form token of ours.
protocol_router = APIRouter(include_in_schema=False)
router = APIRouter(include_in_schema=False)

_PATH = "/auth/authorize"
#: Where a person's browser is, so that refusals are pages.
PAGES = frozenset({_PATH, "/auth/consent", "/auth/logout", "/auth/logout/confirm"})
_ANSWER_FIELDS = frozenset({csrf.FIELD, "request", "decision"})


@protocol_router.get(_PATH, dependencies=[Depends(no_head)])
async def authorize(request: Request, person: MaybeSignedIn, authorization: Authorization) -> Response:
    """A client sends a person here (RFC 6749, section 4.1.1)."""
    sent = parse_parameters(request.url.query)
    return _show(request, sent, await authorization.authorize(sent, person))


@protocol_router.post(_PATH)
async def authorize_by_form(
    request: Request, person: MaybeSignedIn, authorization: Authorization
) -> Response:
    """The same by POST; from another site it comes without our cookie, and goes on as a GET with it."""
    sent = await read_form(request)
    if SESSION_COOKIE not in request.cookies:
        return RedirectResponse(_here(sent.values), status_code=HTTPStatus.SEE_OTHER)
    return _show(request, sent, await authorization.authorize(sent, person))


def _show(request: Request, sent: Parameters, outcome: Outcome) -> Response:
    if isinstance(outcome, GoOn):
        return RedirectResponse(outcome.location, status_code=HTTPStatus.SEE_OTHER)
    if isinstance(outcome, SignInFirst):
        values = sent.values if outcome.stamp is None else {**sent.values, ASKED_AT: outcome.stamp}
        again = "" if outcome.stamp is None else "again=true&"
        target = f"{SIGN_IN_PAGE}?{again}next={quote(_here(values), safe='')}"
        return RedirectResponse(target, status_code=HTTPStatus.SEE_OTHER)
    page = render(request, "authorization/consent.html", question=outcome)
    page.headers["Content-Security-Policy"] = policy_for(outcome.redirect_uri)
    return page


def _here(values: Mapping[str, str]) -> str:
    return f"{_PATH}?{urlencode(values, quote_via=quote)}"


@router.post("/auth/consent")
async def decide(request: Request, person: SignedInSession, authorization: Authorization) -> Response:
    """The person's answer. It names the stored question and can change nothing of it."""
    ident, agreed = _read_answer(await read_page_form(request))
    outcome = await authorization.decide(ident, person, agreed=agreed)
    return RedirectResponse(outcome.location, status_code=HTTPStatus.SEE_OTHER)


def _read_answer(sent: Parameters) -> tuple[UUID, bool]:
    if sent.repeated or set(sent.values) - _ANSWER_FIELDS or sent.get("decision") not in {"allow", "deny"}:
        raise ConsentForged
    try:
        return UUID(sent.get("request") or ""), sent.get("decision") == "allow"
    except ValueError:
        raise ConsentForged from None


async def send_back(_request: Request, error: Exception) -> Response:
    """Tell the client at its registered address."""
    assert isinstance(error, SentBack)  # noqa: S101 - registered for this class only
    return RedirectResponse(error.location, status_code=HTTPStatus.SEE_OTHER)


async def show_refusal(request: Request, error: Exception) -> Response:
    """A page that goes nowhere: who sent the person here cannot be trusted with an answer."""
    assert isinstance(error, AppError)  # noqa: S101 - registered for refusals only
    return render(request, "authorization/refused.html", status_code=HTTPStatus.BAD_REQUEST, code=error.code)


async def answer_refusal(request: Request, error: Exception) -> Response:
    """A refusal in OAuth's words: a page for people, JSON for programs."""
    if request.url.path in PAGES:
        return await show_refusal(request, error)
    return await answer_oauth_error(request, error)
