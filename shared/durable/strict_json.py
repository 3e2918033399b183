"""JSON without surprises: UTF-8, finite numbers, text keys, no duplicate names, no white space."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique_names(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _check_names(value: Any) -> None:
    """Refuse names that are not text: the encoder would turn 1 into "1" and None into "null"."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            if not all(isinstance(name, str) for name in current):
                raise TypeError("every name in an object is text")
            waiting.extend(current.values())
        elif isinstance(current, list | tuple):
            waiting.extend(current)


def dump(value: Any) -> bytes:
    """Encode, or raise ValueError or TypeError for what JSON cannot say."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError as error:
        raise ValueError("nested too deeply or circular") from error
    _check_names(value)
    return text.encode()


def parse(data: bytes | str) -> Any:
    """Decode, or raise ValueError."""
    text = data if isinstance(data, str) else data.decode()
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_names)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
