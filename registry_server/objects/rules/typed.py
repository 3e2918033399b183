"""What the values of an attribute are, beyond text."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from registry_server.objects.rules.auth import is_commented_out, parse_auth
from registry_server.objects.rules.classes import CLASSES
from registry_server.objects.rules.grammar import strip_comment, words
from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix
from registry_server.objects.schemas import Attribute


class AttributeKind(StrEnum):
    """How the parts of an attribute are to be read."""

    #: Free text; one part a line.
    TEXT = "text"
    #: One word without blanks.
    WORD = "word"
    #: Keys of other objects.
    REFERENCE = "reference"
    #: AS numbers, in digits.
    ASN = "asn"
    #: Address blocks, canonical where they are well formed.
    PREFIX = "prefix"
    #: First and last of a range.
    RANGE = "range"
    NUMBER = "number"
    #: Method and value; the method is "unknown" where it proves nothing.
    AUTH = "auth"
    #: A name server and, where given, its address.
    SERVER = "server"


_TEXTS = frozenset({"descr", "remarks", "person", "role", "org-name", "contact", "address", "certif", "www"})
_KINDS: dict[str, AttributeKind] = {
    **dict.fromkeys(("aut-num", "origin"), AttributeKind.ASN),
    **dict.fromkeys(("cidr", "route", "route6"), AttributeKind.PREFIX),
    **dict.fromkeys(("inetnum", "inet6num", "as-block"), AttributeKind.RANGE),
    "max-length": AttributeKind.NUMBER,
    "auth": AttributeKind.AUTH,
    "nserver": AttributeKind.SERVER,
    **dict.fromkeys(
        ("as-name", "netname", "nic-hdl", "mntner", "organisation", "as-set", "route-set", "domain"),
        AttributeKind.WORD,
    ),
    **dict.fromkeys(("policy", "status", "source", "country", "e-mail", "abuse-mailbox"), AttributeKind.WORD),
    **dict.fromkeys(("pgp-fingerprint", "pingable", "language"), AttributeKind.WORD),
    **dict.fromkeys(_TEXTS, AttributeKind.TEXT),
}


def kind_of(object_class: str, name: str) -> AttributeKind:
    """What the attribute holds in objects of the class."""
    if name in CLASSES[object_class].references:
        return AttributeKind.REFERENCE
    return _KINDS.get(name, AttributeKind.TEXT)


def parts_of(kind: AttributeKind, attribute: Attribute) -> list[str]:
    """The values, each as the kind says; what cannot be read so stays as it is written."""
    return _READERS[kind](attribute.value)


def _asns(value: str) -> list[str]:
    numbers = [(word, parse_asn(word)) for word in words(value)]
    return [word if number is None else str(number) for word, number in numbers]


def _prefixes(value: str) -> list[str]:
    found = []
    for word in words(value):
        try:
            found.append(parse_prefix(word).text)
        except PrefixRefused:
            found.append(word)
    return found


def _auth(value: str) -> list[str]:
    if is_commented_out(value):
        return ["unknown", value]
    method, found, raw = parse_auth(value)
    return [method, found or raw]


_READERS: dict[AttributeKind, Callable[[str], list[str]]] = {
    AttributeKind.TEXT: lambda value: value.split("\n"),
    AttributeKind.WORD: lambda value: [strip_comment(value).strip()],
    AttributeKind.REFERENCE: words,
    AttributeKind.ASN: _asns,
    AttributeKind.PREFIX: _prefixes,
    AttributeKind.RANGE: lambda value: [part.strip() for part in strip_comment(value).split("-", 1)],
    AttributeKind.NUMBER: lambda value: [strip_comment(value).strip()],
    AttributeKind.AUTH: _auth,
    AttributeKind.SERVER: words,
}
