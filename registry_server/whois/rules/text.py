"""The text of objects as clients read it line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from registry_server.objects.rules.grammar import parse, words
from registry_server.snapshot.schemas.content import Entry
from registry_server.whois.errors import AnswerTooLarge

#: A client follows such a line to another server, whoever wrote it: indented, it is part of the line above.
_REFERRAL = re.compile(rb"^(?=referralserver:|refer:|whois:|% referto:)", re.IGNORECASE | re.MULTILINE)
_MEMBERS = frozenset({"members", "mp-members"})
_KEYS = {
    "route": ("route", "origin"),
    "route6": ("route6", "origin"),
    "person": ("nic-hdl",),
    "role": ("nic-hdl",),
}


def text_of(entry: Entry) -> bytes:
    """The object byte for byte, without what would upset the framing: CR, and line feeds at either end."""
    raw = entry.raw
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return raw.strip(b"\n")


def without_referrals(text: bytes) -> bytes:
    """The text without a line that a whois client would take as the way to another server."""
    return _REFERRAL.sub(b" ", text)


def key_text_of(entry: Entry) -> bytes:
    """The key and the members, and nothing else."""
    wanted = {*_KEYS.get(entry.object_class, (entry.object_class,)), *_MEMBERS}
    lines = []
    for attribute in parse(entry.raw)[0]:
        if attribute.name in _MEMBERS:
            lines += [f"{attribute.name}: {word}" for word in words(attribute.value)]
        elif attribute.name in wanted:
            lines.append(f"{attribute.name}: {attribute.value}")
    return "\n".join(lines).encode()


def joined(texts: Iterable[bytes], most: int) -> bytes:
    """The texts with a blank line between them. Raises AnswerTooLarge."""
    found, size = [], 0
    for text in texts:
        size += len(text) + 2
        if size > most:
            raise AnswerTooLarge(f"The answer is longer than {most} bytes; ask for less.")
        found.append(text)
    return b"\n\n".join(found)
