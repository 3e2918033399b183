"""Signing out at a client's wish (OpenID Connect RP-Initiated Logout)."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from auth_server.clients.dependencies import read_form, read_page_form
from auth_server.clients.rules.addresses import form_target, with_parameters
from auth_server.clients.rules.parameters import Parameters, parse_parameters
from auth_server.sessions.dependencies import SESSION_COOKIE, MaybeSignedIn, SignedInSession, drop_cookie
from auth_server.sessions.schemas import SignedIn
from auth_server.tokens.dependencies import PageTokens, TokenServices
from auth_server.tokens.schemas import EndOfSession
from shared.web.head import no_head
from shared.web.middleware import CONTENT_SECURITY_POLICY
from shared.web.rendering import render

#: Called from other sites, which have no form token of ours.
protocol_router = APIRouter(include_in_schema=False)
router = APIRouter(include_in_schema=False)


@protocol_router.get("/auth/logout", dependencies=[Depends(no_head)])
async def sign_out(request: Request, signed_in: MaybeSignedIn, tokens: PageTokens) -> Response:
    """End the session where a good hint vouches for it; else ask first."""
    return await _end(request, signed_in, tokens, parse_parameters(request.url.query))


@protocol_router.post("/auth/logout")
async def sign_out_by_form(request: Request, signed_in: MaybeSignedIn, tokens: PageTokens) -> Response:
    """The same by POST; from another site it comes without our cookie, and goes on as a GET with it."""
    asked = await read_form(request)
    if SESSION_COOKIE not in request.cookies:
        address = f"/auth/logout?{urlencode(asked.values)}"
        return RedirectResponse(address, status_code=HTTPStatus.SEE_OTHER)
    return await _end(request, signed_in, tokens, asked)


async def _end(
    request: Request, signed_in: SignedIn | None, tokens: TokenServices, asked: Parameters
) -> Response:
    decision = await tokens.logouts.judge(signed_in, asked)
    if decision.confirm:
        response = render(request, "tokens/sign_out.html", decision=decision)
        response.headers["Content-Security-Policy"] = policy_for(decision.redirect_uri)
        return response
    if decision.ends and signed_in is not None:
        await tokens.sessions.end(signed_in.session_id)
    return _leave(request, decision)


@router.post("/auth/logout/confirm")
async def confirm_sign_out(request: Request, signed_in: SignedInSession, tokens: PageTokens) -> Response:
    """The person said yes."""
    decision = await tokens.logouts.judge(signed_in, await read_page_form(request))
    await tokens.sessions.end(signed_in.session_id)
    return _leave(request, decision)


def _leave(request: Request, decision: EndOfSession) -> Response:
    response: Response
    if decision.redirect_uri is None:
        response = render(request, "tokens/signed_out.html")
    else:
        added = {"state": decision.state} if decision.state else {}
        address = with_parameters(decision.redirect_uri, added)
        response = RedirectResponse(address, status_code=HTTPStatus.SEE_OTHER)
    drop_cookie(response)
    return response


def policy_for(address: str | None) -> str:
    """The page's policy, by which its form may end at a client's registered address."""
    if address is None:
        return CONTENT_SECURITY_POLICY
    return CONTENT_SECURITY_POLICY.replace("form-action 'self'", f"form-action 'self' {form_target(address)}")
