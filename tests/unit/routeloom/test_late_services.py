"""What is asked of a service before it is there waits, is answered, or is told to come again."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Response

from routeloom.lite.dispatcher import Dispatcher
from routeloom.lite.late_services import GivenUp, LateServices
from routeloom.lite.later import Later
from routeloom.lite.local_agent import known_node


def application(name: str) -> FastAPI:
    app = FastAPI(title=name)
    for path in ("/readyz", "/auth/sign-in", "/registry/api/v1/status"):
        app.get(path)(lambda: {"from": name})
    return app


def client(dispatcher: Dispatcher) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=dispatcher)
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost")


async def test_a_request_waits_for_its_service_and_no_other_waits() -> None:
    auth, registry = Later("sign-in"), Later("registry")
    async with client(Dispatcher(application("control"), auth, registry)) as http:
        early = asyncio.create_task(http.get("/auth/sign-in"))
        ready = await http.get("/readyz")
        assert (ready.status_code, ready.json()["starting"]) == (503, ["registry", "sign-in"])
        assert not early.done()
        async with auth.serving(application("auth")):
            assert (await early).json() == {"from": "auth"}
            assert (await http.get("/readyz")).json()["starting"] == ["registry"]
            async with registry.serving(application("registry")):
                assert (await http.get("/readyz")).json() == {"from": "control"}
                assert (await http.get("/registry/api/v1/status")).json() == {"from": "registry"}


async def test_the_door_answers_until_the_fleet_is_there() -> None:
    control, door = Later("fleet"), FastAPI(title="door")
    for path in ("/", "/sign-in", "/session-link/secret"):
        door.get(path)(lambda: {"from": "door"})
    whole = FastAPI(title="whole")
    for path in ("/", "/sign-in", "/api/v1/nodes"):
        whole.get(path)(lambda: {"from": "whole"})
    apps = (application("auth"), application("registry"))
    async with client(Dispatcher(control, *apps, door)) as http:
        for path in ("/", "/sign-in", "/session-link/secret"):
            assert (await http.get(path)).json() == {"from": "door"}
        assert (await http.get("/readyz")).json()["starting"] == ["fleet"]
        waiting = [
            asyncio.create_task(http.get("/", headers={"Cookie": "__Host-rl_control=x"})),
            asyncio.create_task(http.get("/api/v1/nodes")),
        ]
        assert (await http.get("/sign-in")).json() == {"from": "door"}
        assert not any(task.done() for task in waiting)
        async with control.serving(whole):
            assert [(await task).json() for task in waiting] == [{"from": "whole"}] * 2
            assert (await http.get("/sign-in")).json() == {"from": "whole"}


async def test_whoever_waited_long_enough_is_told_to_come_again() -> None:
    auth = Later("sign-in", patience=timedelta(0))
    async with client(Dispatcher(application("control"), auth, Later("registry"))) as http:
        answer = await http.get("/auth/sign-in")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert answer.json()["code"] == "still_starting"
    assert answer.json()["request_id"]


async def test_a_server_that_stops_keeps_nobody_waiting_for_what_will_not_come() -> None:
    control, auth = Later("fleet"), Later("sign-in")
    dispatcher = Dispatcher(control, auth, application("registry"), FastAPI(title="door"))
    async with client(dispatcher) as http:
        waiting = [asyncio.create_task(http.get(path)) for path in ("/auth/sign-in", "/api/v1/nodes")]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        await dispatcher.go_away()
        for task in waiting:
            assert ((await task).status_code, (await task).json()["code"]) == (503, "still_starting")


async def test_a_socket_that_waits_when_the_server_stops_is_told_to_come_again() -> None:
    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    control = Later("fleet")
    socket = asyncio.create_task(control({"type": "websocket", "path": "/api/v1/agent/ws"}, receive, send))
    await asyncio.sleep(0)
    await control.go_away()
    await socket
    assert sent == [{"type": "websocket.close", "code": 1013}]


async def test_nothing_more_is_brought_in_once_it_was_given_up() -> None:
    unused: Any = None
    late = LateServices(unused, unused, unused, unused)
    late.give_up()
    with pytest.raises(GivenUp):
        async with late.up():
            pass
    assert late.control.app is None


async def test_the_agent_of_a_busy_server_is_not_taken_for_an_unknown_one() -> None:
    statuses = [503, 429, 200]
    whole = FastAPI()

    @whole.get("/api/v1/nodes/demo")
    async def node(response: Response) -> dict[str, str]:
        response.status_code = statuses.pop(0)
        return {"liveness": "online"}

    transport = httpx2.ASGITransport(app=whole)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        assert await known_node(http, pause=0) == {"liveness": "online"}
        statuses += [404]
        assert await known_node(http, pause=0) is None
        statuses += [503] * 100
        with pytest.raises(httpx2.HTTPStatusError):
            await known_node(http, pause=0)
