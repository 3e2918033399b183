"""What is asked of a service before it is there waits, is answered, or is told to come again."""

import asyncio
from datetime import timedelta

import httpx2
from fastapi import FastAPI

from routeloom.lite.dispatcher import Dispatcher
from routeloom.lite.later import Later


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
