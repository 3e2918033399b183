"""Prefixes as callers write them, and blocks as they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from registry_server.lookup.schemas.finding import PrefixItem
from registry_server.objects.rules.grammar import parse, strip_comment, words
from registry_server.objects.rules.numbers import PrefixRefused, parse_prefix
from registry_server.objects.schemas import Prefix
from shared.kernel.errors import FieldError, InvalidInput


class StoredText(Protocol):
    """An object as the index has it."""

    @property
    def object_class(self) -> str:
        """Its class."""

    @property
    def key(self) -> str:
        """Its key as written."""

    @property
    def raw(self) -> bytes:
        """Its text."""


def read_prefix(text: str) -> Prefix:
    """A prefix, or an address as the smallest block of it; `_` may stand for `/`. Raises InvalidInput."""
    wanted = text.strip().replace("_", "/")
    if "/" not in wanted:
        wanted = f"{wanted}/{128 if ':' in wanted else 32}"
    try:
        return parse_prefix(wanted)
    except PrefixRefused as refused:
        field = FieldError("prefix", refused.code.value, refused.detail)
        raise InvalidInput(f"Not a prefix or an address: {refused.detail}.", fields=[field]) from None


def prefix_item(found: StoredText, prefix: str, origins: Sequence[tuple[int, int | None]]) -> PrefixItem:
    """One block with what its object says."""
    attributes, _ = parse(found.raw)
    first: dict[str, str] = {}
    for each in attributes:
        first.setdefault(each.name, strip_comment(each.value).strip())
    owners = [word for each in attributes if each.name == "mnt-by" for word in words(each.value)]
    return PrefixItem(
        object_class=found.object_class,
        key=found.key,
        prefix=prefix,
        netname=first.get("netname") or None,
        status=first.get("status") or None,
        policy=first.get("policy") or None,
        mnt_by=list(dict.fromkeys(owners)),
        origins=[origin for origin, _ in origins],
        max_length=next((longest for _, longest in origins), None),
    )
