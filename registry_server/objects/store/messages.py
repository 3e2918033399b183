"""What goes between a process and the one that parses for it: both are of one interpreter and one release."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import IO, Any

from registry_server.objects.schemas import FileVersion, IndexRows, Problem, ProblemCode

_LENGTH_BYTES = 8
_NAMES = [each.name for each in fields(IndexRows)]


def write(pipe: IO[bytes], message: Any) -> None:
    """Write one message. Raises OSError where nobody reads."""
    # Nothing but numbers, texts, bytes and what holds them, and no stranger at the other end.
    text = marshal.dumps(message)
    pipe.write(len(text).to_bytes(_LENGTH_BYTES))
    pipe.write(text)
    pipe.flush()


def read(pipe: IO[bytes]) -> Any | None:
    """The next message, or None at the end. Raises EOFError in the middle of one."""
    head = pipe.read(_LENGTH_BYTES)
    if not head:
        return None
    size = int.from_bytes(head)
    text = pipe.read(size)
    if len(text) < size:
        raise EOFError
    return marshal.loads(text)  # noqa: S302 - see above


def pack_files(files: Sequence[FileVersion]) -> list[Sequence[Any]]:
    """By column, and the problems as plain tuples."""
    *columns, problems = zip(*files, strict=True)
    return [*columns, [problem and (problem.code.value, *problem[1:]) for problem in problems]]


def unpack_files(message: list[Sequence[Any]]) -> Iterable[FileVersion]:
    """What `pack_files` packed."""
    *columns, problems = message
    found = [problem and Problem(ProblemCode(problem[0]), *problem[1:]) for problem in problems]
    return map(FileVersion, *columns, found)


def pack_rows(rows: IndexRows) -> list[Any]:
    """As plain lists."""
    return [getattr(rows, name) for name in _NAMES]


def unpack_rows(message: list[Any]) -> IndexRows:
    """What `pack_rows` packed."""
    return IndexRows(*message)
