"""Direct routes: answered at once, refused like all others, and known to the description."""

from collections.abc import AsyncIterator
from typing import ClassVar

import httpx2
import pytest
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import JSONResponse, Response

from shared.kernel.errors import AppError, Kind
from shared.web import problems
from shared.web.direct import DirectRoute, DirectRoutes
from shared.web.middleware import CatchBugs

router = APIRouter(route_class=DirectRoute)


class Away(AppError):
    """Not now."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "test_away"


class FurtherAway(Away):
    """Not now either."""


@router.post("/echo")
async def echo(request: Request) -> Response:
    return JSONResponse({"said": (await request.body()).decode(), "route": request.scope["route"].path})


@router.post("/away")
async def be_away(_request: Request) -> Response:
    raise FurtherAway


@router.post("/bug")
async def have_a_bug(_request: Request) -> Response:
    raise RuntimeError


@router.post("/of/{name}")
async def of_name(request: Request, name: str = "") -> Response:
    return JSONResponse({"name": request.path_params["name"] or name})


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    app = FastAPI()
    problems.install(app)
    app.include_router(router)
    routes = [route for route in router.routes if isinstance(route, DirectRoute)]
    app.add_middleware(DirectRoutes, application=app, routes=routes)
    app.add_middleware(CatchBugs)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as opened:
        yield opened


async def test_the_function_answers_and_its_route_is_noted(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/echo", content=b"hello")
    assert answer.json() == {"said": "hello", "route": "/echo"}


async def test_a_refusal_is_answered_by_the_handler_of_its_nearest_class(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/away")
    assert (answer.status_code, answer.json()["code"]) == (503, "test_away")


async def test_a_bug_is_a_problem_without_its_message(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/bug")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"


async def test_another_method_is_left_to_the_router(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/echo")).status_code == 405


async def test_a_path_with_parameters_is_left_to_the_router(client: httpx2.AsyncClient) -> None:
    assert (await client.post("/of/ada")).json() == {"name": "ada"}
