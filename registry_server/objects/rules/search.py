"""What people search an object by."""

from __future__ import annotations

from collections.abc import Iterable

from registry_server.objects.rules.classes import CLASSES

#: The attribute that names an object to people.
_TITLES = {
    "aut-num": "as-name",
    "inetnum": "netname",
    "inet6num": "netname",
    "person": "person",
    "role": "role",
    "organisation": "org-name",
    "registry": "url",
}
#: Proofs and armour find nothing, references are found by their target, and the rest stands everywhere.
_LEFT_OUT = {"auth", "certif", "fingerpr", "ds-rdata", "source", "inetnum", "inet6num"}
_NOT_SEARCHED = {
    name: frozenset({name, of_class.key, *of_class.references, *_LEFT_OUT} - {_TITLES.get(name, "")})
    for name, of_class in CLASSES.items()
}
#: A longer text is searched by its beginning.
_LONGEST = 8192
_LONGEST_TITLE = 200


def title_of(object_class: str) -> str:
    """The attribute whose first value is the object's name to people."""
    return _TITLES.get(object_class, "descr")


def is_searched(object_class: str, name: str) -> bool:
    """Whether objects of the class are searched by the values of the attribute."""
    return name not in _NOT_SEARCHED[object_class]


def searched_text(object_class: str, folded: str, lines: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """The name as written, and in small letters the key and a line for each line of the object."""
    wanted = title_of(object_class)
    skipped = _NOT_SEARCHED[object_class]
    title, found = "", []
    for name, value in lines:
        if name == wanted and not title:
            title = value
        if name not in skipped:
            found.append(value)
    return as_stored(title, folded, found)


def as_stored(title: str, folded: str, values: Iterable[str]) -> tuple[str, str]:
    """Title, and the key with the searched values, as they are stored."""
    return title[:_LONGEST_TITLE], "\n".join((folded, *values))[:_LONGEST].lower()
