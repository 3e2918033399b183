"""Portal routes of signing in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.operators.dependencies import SESSION_COOKIE, LinkFollower, Operators
from control_server.operators.rules import safe_next
from control_server.operators.service import Browser
from shared.web.principals import find_principal
from shared.web.rendering import render

router = APIRouter(include_in_schema=False)


@router.get("/sign-in")
async def show_sign_in(request: Request, next_page: Annotated[str, Query(alias="next")] = "/") -> Response:
    """How to get in; whoever is in already goes on."""
    if await find_principal(request) is not None:
        return RedirectResponse(safe_next(next_page), status_code=303)
    return render(request, "operators/sign_in.html")


@router.get("/session-link/{secret}")
async def follow_session_link(request: Request, secret: str, operators: LinkFollower) -> Response:
    """Sign in by a one-time link."""
    browser = Browser(request.headers.get("user-agent", ""), request.client.host if request.client else "")
    cookie = await operators.follow_link(secret, browser)
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(SESSION_COOKIE, cookie, secure=True, httponly=True, samesite="lax", path="/")
    return response


@router.post("/sign-out")
async def sign_out(request: Request, operators: Operators) -> Response:
    """End this browser's session."""
    await operators.end(request.cookies.get(SESSION_COOKIE, ""))
    response = RedirectResponse("/sign-in", status_code=303)
    response.delete_cookie(SESSION_COOKIE, secure=True, httponly=True, samesite="lax", path="/")
    return response
