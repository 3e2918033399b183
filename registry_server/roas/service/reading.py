"""The ROAs for people: how many, how fresh, and those of one prefix or origin."""

from __future__ import annotations

from collections.abc import Iterator

from registry_server.objects.rules.numbers import PrefixRefused, pack, parse_asn, parse_prefix
from registry_server.objects.schemas import Prefix
from registry_server.roas.schemas import Roa, RoaSet, RoaStatus
from registry_server.roas.service.exports import RoaService


def status_of(roas: RoaService) -> RoaStatus:
    """What is given out now. Raises RoasNotReady."""
    made = roas.current()
    return RoaStatus(
        version=made.version,
        commit=made.commit,
        checked_at=roas.snapshots.checked_at,
        fresh=roas.fresh,
        ipv4=sum(roa.family == 4 for roa in made.roas),  # noqa: PLR2004 - the protocol's name
        ipv6=sum(roa.family == 6 for roa in made.roas),  # noqa: PLR2004 - the protocol's name
        problems=len(made.problems),
    )


def is_question(text: str) -> bool:
    """Whether the text names an AS number or a block, or is empty and asks for everything."""
    return not text or parse_asn(text, bare=True) is not None or _block(text) is not None


def matching(made: RoaSet, text: str) -> Iterator[Roa]:
    """The ROAs of an AS number, or those that cover a block or lie in it; all of them for no text at all."""
    number = parse_asn(text, bare=True)
    block = _block(text)
    for roa in made.roas:
        if not text or roa.origin == number or (block is not None and _meets(roa, block)):
            yield roa


def _block(text: str) -> Prefix | None:
    packed = pack(text)
    try:
        return parse_prefix(f"{text}/{len(packed[1]) * 8}" if packed else text)
    except PrefixRefused:
        return None


def _meets(roa: Roa, block: Prefix) -> bool:
    if roa.family != block.family:
        return False
    shorter = min(roa.length, block.length)
    bits = len(block.first) * 8
    return int.from_bytes(roa.first) >> (bits - shorter) == int.from_bytes(block.first) >> (bits - shorter)
