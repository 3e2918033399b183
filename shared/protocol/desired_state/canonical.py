"""The one spelling of a document: JSON in UTF-8, keys sorted, no blanks.

It is written from the parts as they stand, without a copy of them in dictionaries, because a fleet's states
are spelled whenever a fact changes. The bytes are those of `json.dumps` with sorted keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any

from pydantic import BaseModel

_Speller = Callable[[Any], str]
_Address = IPv4Address | IPv6Address | IPv4Interface | IPv6Interface | IPv4Network | IPv6Network
#: Addresses that recur: of a node on all its tunnels, of networks that every filter names.
_REMEMBERED = 4096


def canonical(document: BaseModel, known: Mapping[str, str]) -> bytes:
    """The spelling; `known` has fields that were spelled before.

    Raises TypeError for a value of a kind that no document holds.
    """
    values = document.__dict__
    members = [
        f'"{name}":{known[name] if name in known else spell(values[name])}'
        for name in sorted(type(document).model_fields)
    ]
    return f"{{{','.join(members)}}}".encode()


def spell(value: Any) -> str:
    """A value of a document as JSON, in the same spelling wherever in the document it stands."""
    return _SPELLERS[type(value)](value)


def listed(spellings: Iterable[str]) -> str:
    """A list of members that are spelled already."""
    return f"[{','.join(spellings)}]"


@lru_cache(maxsize=_REMEMBERED, typed=True)
def address_text(address: _Address) -> str:
    """An address as text; the text of an IPv6 address costs as much as reading one."""
    return str(address)


def _address(address: _Address) -> str:
    return f'"{address_text(address)}"'


def _list(members: tuple[Any, ...] | list[Any]) -> str:
    spellers = _SPELLERS
    return f"[{','.join([spellers[type(member)](member) for member in members])}]"


def _part(kind: type[BaseModel]) -> _Speller:
    names = sorted(kind.model_fields)
    form = "{" + ",".join([f'"{name}":%s' for name in names]) + "}"
    chosen = itemgetter(*names, names[0])  # one more, so that it is a tuple for a part of one field too
    spellers = _SPELLERS
    # Sessions are mostly written alike: their timers and switches are the ones of the session before. A field
    # has one kind of value, so what is equal is spelled alike.
    recent: list[tuple[dict[str, Any], str]] = [({}, "{}")]

    def spell_part(part: BaseModel) -> str:
        fields = part.__dict__
        before, spelling = recent[0]
        if fields != before:
            values = chosen(fields)[:-1]
            spelling = form % tuple([spellers[type(value)](value) for value in values])
            recent[0] = (fields, spelling)
        return spelling

    return spell_part


class _Spellers(dict[type, _Speller]):
    """By type; those of parts are made when the first one is met."""

    def __missing__(self, kind: type) -> _Speller:
        if not issubclass(kind, BaseModel):
            message = f"a document holds no {kind.__name__}"
            raise TypeError(message)
        found = self[kind] = _part(kind)
        return found


_SWITCH: dict[bool, str] = {True: "true", False: "false"}
_NOTHING: dict[None, str] = {None: "null"}
_SPELLERS = _Spellers()
_SPELLERS[str] = encode_basestring
_SPELLERS[int] = int.__repr__
_SPELLERS[bool] = _SWITCH.__getitem__
_SPELLERS[type(None)] = _NOTHING.__getitem__
_SPELLERS[tuple] = _SPELLERS[list] = _list
for _kind in (IPv4Address, IPv6Address, IPv4Interface, IPv6Interface, IPv4Network, IPv6Network):
    _SPELLERS[_kind] = _address
