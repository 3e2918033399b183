"""Script calls and the shapes of what a server answers; anything odd is a RedisPayloadError."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.durable.errors import RedisPayloadError, naming_capacity
from shared.durable.scripts import script

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from shared.durable.protocols import AsyncRedisClient


def as_text(value: object) -> str:
    """Text of a reply, whether the client decodes or not."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise RedisPayloadError("The server answered text that is not UTF-8.") from error
    raise RedisPayloadError(f"The server answered {type(value).__name__} where text was due.")


def as_number(value: object) -> int:
    """Whole number of a reply."""
    if type(value) is int:
        return value
    try:
        return int(as_text(value))
    except ValueError as error:
        raise RedisPayloadError("The server answered something else where a number was due.") from error


def as_list(value: object) -> list[Any]:
    """List of a reply."""
    if not isinstance(value, list | tuple):
        raise RedisPayloadError(f"The server answered {type(value).__name__} where a list was due.")
    return list(value)


async def answer(reply: Awaitable[Any]) -> Any:
    """Await a reply; a client that decodes by itself may meet bytes that are not UTF-8."""
    try:
        with naming_capacity():
            return await reply
    except UnicodeDecodeError as error:
        raise RedisPayloadError("The server answered text that is not UTF-8.") from error


@dataclass(frozen=True, slots=True)
class ScriptReply:
    """The word that a script answered, and what came with it."""

    status: str
    values: list[Any]

    def odd(self) -> RedisPayloadError:
        """The error for a word that the caller does not know."""
        return RedisPayloadError(f"The server answered {self.status!r}, which is not expected here.")

    def number(self, position: int = 0) -> int:
        """The number at that position after the word."""
        return as_number(self.value(position))

    def value(self, position: int = 0) -> Any:
        """Whatever stands at that position after the word."""
        if position >= len(self.values):
            raise RedisPayloadError(f"The server's answer {self.status!r} is too short.")
        return self.values[position]


async def run_script(
    client: AsyncRedisClient, name: str, keys: Sequence[str], *arguments: Any
) -> ScriptReply:
    """Run a script once; a time-out leaves its outcome unknown and passes through."""
    reply = as_list(await answer(client.eval(script(name), len(keys), *keys, *arguments)))
    if not reply:
        raise RedisPayloadError("The server answered an empty list.")
    return ScriptReply(as_text(reply[0]), reply[1:])
