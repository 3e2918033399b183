import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from shared.testing.servers import KeyValueServer
from tests.contracts.runtime_state.subjects import (
    DATABASE,
    SERVER_VARIABLE,
    ServerSubject,
    Subject,
    memory_subject,
    server_names,
    server_subject,
)


@pytest.fixture(params=server_names(os.environ))
def server_url(request: pytest.FixtureRequest) -> str:
    if request.param == "given":
        return os.environ[SERVER_VARIABLE]
    server: KeyValueServer = request.getfixturevalue(request.param)
    return f"{server.url}/{DATABASE}"


@pytest.fixture
async def server(server_url: str) -> AsyncIterator[ServerSubject]:
    async with server_subject(server_url) as opened:
        yield opened


@pytest.fixture(params=["memory", *server_names(os.environ)])
def open_subject(request: pytest.FixtureRequest) -> Callable[[], AbstractAsyncContextManager[Subject]]:
    if request.param == "memory":
        return memory_subject
    if request.param == "given":
        return lambda: server_subject(os.environ[SERVER_VARIABLE])
    url = request.getfixturevalue(request.param).url
    return lambda: server_subject(f"{url}/{DATABASE}")


@pytest.fixture
async def subject(
    open_subject: Callable[[], AbstractAsyncContextManager[Subject]],
) -> AsyncIterator[Subject]:
    async with open_subject() as opened:
        yield opened
