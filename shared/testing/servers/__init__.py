"""Real servers for tests: Valkey, Redis and PostgreSQL on free loopback ports, gone when the block ends."""

from shared.testing.servers.key_value import (
    KeyValueServer,
    redis_server,
    valkey_server,
    valkey_state_server,
)
from shared.testing.servers.postgres import PostgresServer, postgres_server
from shared.testing.servers.process import ServerFailed, ServerMissing, ServerProcess

__all__ = [
    "KeyValueServer",
    "PostgresServer",
    "ServerFailed",
    "ServerMissing",
    "ServerProcess",
    "postgres_server",
    "redis_server",
    "valkey_server",
    "valkey_state_server",
]
