"""Which files of the repository are objects, by their path alone."""

from __future__ import annotations

import hashlib
import re

from registry_server.objects.rules.classes import CLASS_OF_DIRECTORY
from registry_server.objects.rules.grammar import quote
from registry_server.objects.schemas import ObjectPath, Problem, ProblemCode

_ROOT = b"data/"
_DEPTH = 3
#: Nearly every path: printable ASCII, no blank, no backslash, no dot in front.
_PLAIN_NAME = re.compile(rb"[!-\-0-\[\]-~][!-.0-\[\]-~]*")
_PLAIN = re.compile(rb"data/([a-z0-9-]+)/(%b)" % _PLAIN_NAME.pattern)
_PLAIN_TEXT = re.compile(_PLAIN_NAME.pattern.decode())
_CLASS_AT = {f"data/{name}": object_class for name, object_class in CLASS_OF_DIRECTORY.items()}
#: Longer than any key, and short enough for an index entry.
_LONGEST = 512
#: An index entry of PostgreSQL holds 2,700 bytes.
_LONGEST_SHOWN = 1000
#: Files in `data/` that are no objects and belong there.
FILTERS = frozenset({b"data/filter.txt", b"data/filter6.txt"})


def show(path: bytes) -> str:
    """A path as text that both databases take and index; two paths never look the same."""
    if len(path) <= _LONGEST and _PLAIN.fullmatch(path):
        return path.decode()
    text = path.replace(b"\\", b"\\\\").decode(errors="backslashreplace")
    if not text.isprintable():
        text = "".join(
            character if character.isprintable() else character.encode("unicode_escape").decode()
            for character in text
        )
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[:200]}…{hashlib.sha256(path).hexdigest()}"


def read_usual(path: bytes) -> tuple[str, str, str] | None:
    """Path, class and file name of an object in a file that nothing is odd about; else None: see `place`."""
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return None
    directory, _, name = text.rpartition("/")
    object_class = _CLASS_AT.get(directory)
    if object_class is None or len(path) > _LONGEST or not _PLAIN_TEXT.fullmatch(name):
        return None
    return text, object_class, name


def place(path: bytes) -> tuple[ObjectPath | None, Problem | None]:
    """The object at this path, if one may stand there, and what is wrong with the path.

    Both are None for files that are none of the registry's business: all outside `data/`, and the filters.
    """
    if not path.startswith(_ROOT) or path in FILTERS:
        return None, None
    plain = _PLAIN.fullmatch(path)
    if plain and len(path) <= _LONGEST:
        return _place_object(plain[1].decode(), plain[2].decode(), odd=False)
    if len(path) > _LONGEST:
        return None, Problem(ProblemCode.PATH_TOO_LONG, None, f"the path is {len(path)} bytes long")
    parts = path.split(b"/")
    if any(part.startswith(b".") for part in parts):
        return None, Problem(ProblemCode.DOT_FILE, None, "names that start with a dot are not read")
    if len(parts) != _DEPTH:
        return None, Problem(ProblemCode.WRONG_DEPTH, None, "objects stand in data/<class>/<key>")
    name = show(parts[2])
    odd = any(character.isspace() for character in name) or name.encode() != parts[2]
    return _place_object(show(parts[1]), name, odd=odd)


def _place_object(directory: str, name: str, *, odd: bool) -> tuple[ObjectPath | None, Problem | None]:
    object_class = CLASS_OF_DIRECTORY.get(directory)
    if object_class is None:
        return None, Problem(ProblemCode.UNKNOWN_CLASS, None, f"{quote(directory)} is not a class of objects")
    problem = (
        Problem(ProblemCode.ODD_NAME, None, f"{quote(name)} cannot be the name of a key") if odd else None
    )
    return ObjectPath(object_class, name), problem
