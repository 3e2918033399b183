"""Portal routes of signing in and out."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Form, Query, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.routing import Match

from control_server.operators.dependencies import (
    LOGIN_COOKIE,
    SESSION_COOKIE,
    CurrentBrowser,
    LinkFollower,
    Operators,
    SignIns,
    browser_of,
    keep_cookie,
    login_secret,
    throttled_callback,
)
from control_server.operators.errors import (
    AuthAway,
    LogoutTokenRefused,
    SignInDeclined,
    SignInRefused,
    StepUpRequired,
)
from control_server.operators.rules.places import safe_next
from control_server.operators.schemas import Callback
from shared.web.csrf import require_token
from shared.web.head import no_head
from shared.web.principals import find_principal
from shared.web.problems import refused, wants_page
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)

NextPage = Annotated[str, Query(alias="next", max_length=2000)]
NextField = Annotated[str, Form(alias="next", max_length=2000)]


@router.get("/sign-in")
async def show_sign_in(request: Request, next_page: NextPage = "/") -> Response:
    """How to get in; whoever is in already goes on."""
    if await find_principal(request) is not None:
        return RedirectResponse(safe_next(next_page), status_code=303)
    return render(request, "operators/sign_in.html", next_page=safe_next(next_page))


@router.post("/sign-in", dependencies=[Depends(require_token)])
async def begin_sign_in(request: Request, sign_ins: SignIns, next_page: NextField = "/") -> Response:
    """Send the browser to the sign-in service."""
    secret = login_secret(request)
    return _sent(await sign_ins.begin(secret, next_page), secret)


@router.get("/sign-in/callback", dependencies=[Depends(no_head), throttled_callback])
async def finish_sign_in(
    request: Request, sign_ins: SignIns, callback: Annotated[Callback, Depends()]
) -> Response:
    """Take the browser back from the sign-in service."""
    arrival = await sign_ins.finish(
        callback,
        request.cookies.get(LOGIN_COOKIE, ""),
        request.cookies.get(SESSION_COOKIE, ""),
        browser_of(request),
    )
    response = RedirectResponse(arrival.next_page, status_code=303)
    keep_cookie(response, SESSION_COOKIE, arrival.cookie)
    return response


@router.post("/sign-in/backchannel-logout")
async def hear_of_logout(sign_ins: SignIns, logout_token: Annotated[str, Form()] = "") -> Response:
    """The sign-in service says that a session has ended (OpenID Connect Back-Channel Logout)."""
    await sign_ins.end_by_notice(logout_token)
    return Response(status_code=200)


@router.get("/step-up")
async def show_step_up(request: Request, browser: CurrentBrowser, next_page: NextPage = "/") -> Response:
    """Why a fresh proof is needed, and the way to it."""
    return render(
        request, "operators/step_up.html", next_page=safe_next(next_page), by_link=browser.sub is None
    )


@router.post("/step-up")
async def begin_step_up(
    request: Request, browser: CurrentBrowser, sign_ins: SignIns, next_page: NextField = "/"
) -> Response:
    """Send the browser to prove anew who it is."""
    secret = login_secret(request)
    return _sent(await sign_ins.begin(secret, next_page, browser), secret)


@router.get("/session-link/{secret}", dependencies=[Depends(no_head)])
async def follow_session_link(request: Request, secret: str, operators: LinkFollower) -> Response:
    """Sign in by a one-time link."""
    cookie = await operators.follow_link(secret, browser_of(request))
    response = RedirectResponse("/", status_code=303)
    keep_cookie(response, SESSION_COOKIE, cookie)
    return response


@router.post("/sign-out")
async def sign_out(request: Request, operators: Operators, sign_ins: SignIns) -> Response:
    """End this browser's session, here and at the sign-in service where it came from there."""
    ended = await operators.end(request.cookies.get(SESSION_COOKIE, ""))
    response = RedirectResponse(sign_ins.sign_out_address(ended), status_code=303)
    response.delete_cookie(SESSION_COOKIE, secure=True, httponly=True, samesite="lax", path="/")
    return response


def _sent(address: str, secret: str) -> Response:
    response = RedirectResponse(address, status_code=303)
    keep_cookie(response, LOGIN_COOKIE, secret)
    return response


def install(app: FastAPI) -> None:
    """Pages of our own for the refusals of sign-in that a person can do something about."""
    for refusal, answer in (
        (StepUpRequired, _to_step_up),
        (AuthAway, _away),
        (SignInRefused, _again),
        (SignInDeclined, _again),
        (LogoutTokenRefused, _not_obeyed),
    ):
        app.add_exception_handler(refusal, answer)


async def _to_step_up(request: Request, refusal: Exception) -> Response:
    if not wants_page(request):
        return await refused(request, refusal)
    query = urlencode({"next": _page_above(request)})
    return RedirectResponse(f"/step-up?{query}", status_code=303)


async def _away(request: Request, refusal: Exception) -> Response:
    if not wants_page(request):
        return await refused(request, refusal)
    form = await request.form() if request.method == "POST" else {}
    next_page = safe_next(str(form.get("next", "/")))
    page = render(request, "operators/away.html", status_code=503, next_page=next_page)
    page.headers["Retry-After"] = "5"
    return page


async def _again(request: Request, refusal: Exception) -> Response:
    if not wants_page(request):
        return await refused(request, refusal)
    declined = isinstance(refusal, SignInDeclined)
    return render(request, "operators/sign_in_refused.html", status_code=410, declined=declined)


async def _not_obeyed(_request: Request, refusal: Exception) -> Response:
    """As OpenID Connect Back-Channel Logout, section 2.8, wants it."""
    told = {"error": "invalid_request", "error_description": str(refusal)}
    return JSONResponse(told, status_code=400)


def _page_above(request: Request) -> str:
    """The page that a refused form stands on: the deepest one above the form's address."""
    path = request.url.path
    while path != "/":
        scope = {**request.scope, "method": "GET", "path": path}
        if any(route.matches(scope)[0] is Match.FULL for route in request.app.routes):
            return path
        path = path.rsplit("/", 1)[0] or "/"
    return "/"
