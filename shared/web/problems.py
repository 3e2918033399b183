"""Refusals over HTTP: RFC 9457 problems for programs, pages for people. One table for all services."""

from __future__ import annotations

import contextlib
import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from shared.kernel.errors import AppError, FieldError, InvalidInput, Kind
from shared.web.forms import FormRefused
from shared.web.methods import allowed_methods
from shared.web.principals import check_gates, find_principal
from shared.web.request_ids import current_request_id

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

    from shared.web.pages import Pages

log = structlog.get_logger(__name__)
_AS_JSON = "Send a JSON object, with Content-Type: application/json."

STATUS_OF_KIND: dict[Kind, HTTPStatus] = {
    Kind.INVALID: HTTPStatus.UNPROCESSABLE_ENTITY,
    Kind.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Kind.FORBIDDEN: HTTPStatus.FORBIDDEN,
    Kind.MISSING: HTTPStatus.NOT_FOUND,
    Kind.GONE: HTTPStatus.GONE,
    Kind.CONFLICT: HTTPStatus.CONFLICT,
    Kind.PRECONDITION: HTTPStatus.PRECONDITION_REQUIRED,
    Kind.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Kind.THROTTLED: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}

_CODE_OF_STATUS = {
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.BAD_REQUEST: "bad_request",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
}


class ProblemField(BaseModel):
    """One refused input."""

    field: str
    code: str
    message: str


class Problem(BaseModel):
    """The body of every refusal (RFC 9457, `application/problem+json`). `code` is stable."""

    #: Extension members (RFC 9457, section 3.2): only those that a refusal names.
    model_config = ConfigDict(extra="allow")

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[ProblemField] = Field(default_factory=list)


def problem_of(error: AppError) -> Problem:
    """The refusal in RFC 9457 words."""
    status = STATUS_OF_KIND[error.kind]
    return Problem(
        title=status.phrase,
        status=status,
        detail=error.detail,
        code=error.code,
        request_id=current_request_id(),
        errors=[ProblemField(field=e.field, code=e.code, message=e.message) for e in error.fields],
        **error.members,
    )


def install(app: FastAPI) -> None:
    """Translate every refusal and every validation error; bugs are `CatchBugs`'s, which sees all."""
    app.add_exception_handler(AppError, refused)
    app.add_exception_handler(FormRefused, _form)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _http)


async def refused(request: Request, error: Exception) -> Response:
    """The answer to a refusal where nothing more particular is registered."""
    assert isinstance(error, AppError)  # noqa: S101 - registered for this class only
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after.total_seconds())))
    if error.kind is Kind.UNAUTHENTICATED:
        if wants_page(request) and (sign_in := getattr(request.app.state, "sign_in_path", None)):
            return RedirectResponse(f"{sign_in}?next={quote(_here(request))}", status_code=303)
        headers["WWW-Authenticate"] = 'Bearer realm="routeloom"'
    return await _answer(request, problem_of(error), headers)


async def _form(_request: Request, error: Exception) -> Response:
    assert isinstance(error, FormRefused)  # noqa: S101 - registered for this class only
    return error.page()


async def _not_valid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class only
    if (refusal := await _gates_refusal(request)) is not None:
        return refusal
    # Where two of an endpoint's dependencies read the body, each finds the same.
    found = [_field(item) for item in error.errors()]
    fields = list({(field.field, field.code, field.message): field for field in found}.values())
    named = ", ".join(dict.fromkeys(field.field for field in fields))
    detail = f"Not acceptable: {named}." if named else None
    return await _answer(request, problem_of(InvalidInput(detail, fields=fields)), {})


async def _gates_refusal(request: Request) -> Response | None:
    """What a caller is told instead of what is wrong with the body, when they may not send one."""
    try:
        await check_gates(request)
    except AppError as refusal:
        return await refused(request, refusal)
    return None


def _field(item: Any) -> FieldError:
    place = [str(part) for part in item["loc"]]
    name = ".".join(place[1:] or place) or "body"
    if item["type"] == "json_invalid":
        name = "body"  # the place is an offset in the text
    if name == "body" and item["type"] == "model_attributes_type":
        return FieldError(name, str(item["type"]), _AS_JSON)
    return FieldError(name, str(item["type"]), str(item["msg"]).removeprefix("Value error, "))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    status = HTTPStatus(error.status_code)
    # A body that no parser takes is refused so, before any dependency runs.
    if status is HTTPStatus.BAD_REQUEST and (refusal := await _gates_refusal(request)) is not None:
        return refusal
    problem = Problem(
        title=status.phrase,
        status=status,
        detail=str(error.detail),
        code=_CODE_OF_STATUS.get(status, status.name.lower()),
        request_id=current_request_id(),
    )
    headers = dict(error.headers or {})
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(allowed_methods(request.app.routes, request.scope))
    return await _answer(request, problem, headers)


async def too_large(request: Request, limit: int) -> Response:
    """The refusal of a request body over `limit` bytes."""
    return await _http(request, HTTPException(413, f"A request body has at most {limit} bytes."))


async def bug(request: Request, error: Exception) -> Response:
    """Log what is not a refusal, once; answer 500 without its message."""
    log.error("request.failed", path=request.url.path, method=request.method, exc_info=error)
    problem = Problem(
        title=HTTPStatus.INTERNAL_SERVER_ERROR.phrase,
        status=HTTPStatus.INTERNAL_SERVER_ERROR,
        detail="Something went wrong here. It has been logged under the request id.",
        code="internal_error",
        request_id=current_request_id(),
    )
    return await _answer(request, problem, {})


async def _answer(request: Request, problem: Problem, headers: dict[str, str]) -> Response:
    pages: Pages | None = getattr(request.app.state, "pages", None)
    if pages is not None and wants_page(request):
        with contextlib.suppress(Exception):  # who asks decides the frame around the page, nothing else
            await find_principal(request)
        page: Response = pages.render(
            request, "errors/problem.html", status_code=problem.status, problem=problem
        )
        page.headers.update(headers)
        return page
    return JSONResponse(
        problem.model_dump(exclude_defaults=False),
        status_code=problem.status,
        headers=headers,
        media_type="application/problem+json",
    )


def wants_page(request: Request) -> bool:
    """Whether a person's browser asks, as against a program."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")


def _here(request: Request) -> str:
    if request.method != "GET":
        return "/"
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{request.url.path}{query}"
