"""The facade under its fixed names, and the dependency by which an endpoint receives it.

This module alone knows the web framework's request. Stores and services take the client as an argument and
import its type from the package.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection

from shared.runtime_state.creation import create_runtime_state_client
from shared.runtime_state.facade import RedisRuntimeClient

__all__ = ["RedisRuntimeClient", "create_runtime_state_client", "get_redis_runtime_client"]


def get_redis_runtime_client(connection: HTTPConnection) -> RedisRuntimeClient:
    """The client that the application's lifespan opened; for `Depends` on HTTP and WebSocket routes alike."""
    client: RedisRuntimeClient = connection.app.state.resources.runtime_state
    return client
