"""How a well-written object looks: names padded so that values start at column 20."""

from __future__ import annotations

from collections.abc import Iterable

from registry_server.samples.schemas import Planted, SampleFile

_COLUMN = 20
Line = tuple[str, str]


def render(lines: Iterable[Line]) -> bytes:
    """The object's text; an empty name makes a continuation line."""
    return "".join(f"{_start(name)}{value}".rstrip() + "\n" for name, value in lines).encode()


def _start(name: str) -> str:
    return (f"{name}:" if name else "").ljust(_COLUMN)


def file_of(
    object_class: str,
    key: str,
    lines: Iterable[Line],
    *,
    routes: int = 0,
    problems: tuple[Planted, ...] = (),
) -> SampleFile:
    """A well-placed file of the class."""
    return SampleFile(path_of(object_class, key), render(lines), object_class, routes, problems)


def path_of(object_class: str, key: str) -> bytes:
    """Where an object with the key stands."""
    directory = "dns" if object_class == "domain" else object_class
    return f"data/{directory}/{key.replace('/', '_')}".encode()
