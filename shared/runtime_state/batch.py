"""A batch being filled: arguments are judged as they come, so a bad one never meets a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.runtime_state.arguments import (
    check_count,
    encode_fields,
    encode_value,
    flag,
    lifetime,
    whole_seconds,
)
from shared.runtime_state.contracts import RuntimeStateBatchSpent
from shared.runtime_state.operations import Delete, Expire, Operation, SetFields, SetValue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.runtime_state.contracts import Key, Name, RuntimeStateBackend, Seconds, Value


class StagedBatch:
    """`RuntimeStateBatch` over any back end."""

    def __init__(self, backend: RuntimeStateBackend, wire_key: Callable[[Key], bytes]) -> None:
        """Collect for one back end; `wire_key` adds the prefix, once."""
        self._backend = backend
        self._wire_key = wire_key
        self._operations: list[Operation] = []
        self._arguments = 0
        self._spent = False

    def set(self, key: Key, value: Value, *, ex: Seconds | None = None, nx: bool = False) -> None:
        self._add(SetValue(self._wire_key(key), encode_value(value), lifetime(ex), flag(nx)), 1)

    def hset(self, key: Key, mapping: Mapping[Name, Value]) -> None:
        fields = encode_fields(mapping)
        self._add(SetFields(self._wire_key(key), fields), len(fields))

    def expire(self, key: Key, seconds: Seconds) -> None:
        self._add(Expire(self._wire_key(key), whole_seconds(seconds)), 1)

    def delete(self, *keys: Key) -> None:
        check_count(len(keys))
        self._add(Delete(tuple(map(self._wire_key, keys))), len(keys))

    async def execute(self) -> list[bool | int]:
        self._check_unspent()
        self._spent = True
        if not self._operations:
            return []
        return await self._backend.apply(self._operations)

    def _add(self, operation: Operation, arguments: int) -> None:
        self._check_unspent()
        check_count(self._arguments + arguments)
        self._arguments += arguments
        self._operations.append(operation)

    def _check_unspent(self) -> None:
        if self._spent:
            raise RuntimeStateBatchSpent
