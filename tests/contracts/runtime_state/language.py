"""The little language in which rows are written: `SET k v EX 100 · TTL k` is answered `OK · 100`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SLACK = 3


@dataclass(frozen=True)
class Row:
    number: str
    commands: list[str]
    answers: list[str]


def read_rows(name: str) -> list[Row]:
    """The rows of a table beside this file."""
    lines = (Path(__file__).with_name(name)).read_text(encoding="utf-8").splitlines()
    rows = []
    for line in (line for line in lines if line and not line.startswith("#")):
        number, commands, answers = line.split(" | ")
        rows.append(Row(number, commands.split(" · "), answers.split(" · ")))
    return rows


def words(command: str) -> list[str]:
    return shlex.split(command)


def steps(command: str) -> list[list[str]]:
    """The commands inside `MULTI[…]` or `BATCH[…]`."""
    return [words(step) for step in command[command.index("[") + 1 : -1].split("; ")]


def show(answer: object) -> str:
    match answer:
        case b"OK":
            return "OK"
        case True | False | None:
            return {True: "OK", False: "False", None: "nil"}[answer]
        case bytes():
            return f'"{answer.decode()}"'
        case list():
            return f"[{', '.join(map(show, answer))}]"
        case dict():
            return show_fields(answer.items())
        case _:
            return str(answer)


def show_fields(fields: Iterable[tuple[bytes, bytes]]) -> str:
    return "{" + ", ".join(f"{name.decode()}:{value.decode()}" for name, value in sorted(fields)) + "}"


def agrees(command: str, answer: str, expected: str) -> bool:
    """Equal; a long lifetime may have lost some seconds on a busy machine."""
    if command.startswith("TTL") and expected.isdecimal() and int(expected) > SLACK:
        return answer.isdecimal() and int(expected) - SLACK <= int(answer) <= int(expected)
    return answer == expected
