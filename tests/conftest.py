"""What every test may ask for. Each xdist worker has servers of its own."""

from collections.abc import Iterator

import pytest

from shared.testing.servers import (
    KeyValueServer,
    PostgresServer,
    postgres_server,
    redis_server,
    valkey_server,
)


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with valkey_server(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    with postgres_server(tmp_path_factory.mktemp("postgres")) as server:
        yield server
