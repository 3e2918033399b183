"""AS numbers and address blocks, read strictly: what passes here is safe for a database and a router."""

from __future__ import annotations

import re
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton

from registry_server.objects.schemas import Prefix, ProblemCode

MAX_ASN = 2**32 - 1
_ASN = re.compile(r"(?:AS)?([0-9]{1,10})", re.ASCII | re.IGNORECASE)
#: Lengths as they may be written; three digits can be too many, which is said in another way.
_LENGTHS = {str(length): length for length in range(1000)}
_BITS = {4: 32, 6: 128}
_IPV6 = 6


class PrefixRefused(ValueError):
    """The text is not an address block; `code` says in which way."""

    def __init__(self, code: ProblemCode, detail: str) -> None:
        """Keep the code beside the sentence."""
        super().__init__(detail)
        self.code = code
        self.detail = detail


def parse_asn(text: str, *, bare: bool = False) -> int | None:
    """The number in `AS<n>`, any case, with `bare` also plain digits; None where it is none (RFC 6793)."""
    found = _ASN.fullmatch(text)
    if not found or (not bare and text[0] not in "aA"):
        return None
    number = int(found[1])
    return number if number <= MAX_ASN else None


def pack(address: str) -> tuple[int, bytes] | None:
    """Family and network-order bytes of an address, or None. Leading zeros and zone ids are refused."""
    family, number = (AF_INET6, 6) if ":" in address else (AF_INET, 4)
    try:
        return number, inet_pton(family, address)
    except (OSError, ValueError):
        return None


def unpack(packed: bytes) -> str:
    """The canonical text of an address (RFC 5952 for IPv6)."""
    return inet_ntop(AF_INET if len(packed) == _BITS[4] // 8 else AF_INET6, packed)


def parse_prefix(text: str) -> Prefix:
    """Read `address/length`; refuse anything else, and any bit set behind the length."""
    address, _, digits = text.partition("/")
    length = _LENGTHS.get(digits)
    number, kind, bits = (_IPV6, AF_INET6, _BITS[6]) if ":" in address else (4, AF_INET, _BITS[4])
    try:
        first = inet_pton(kind, address)
    except (OSError, ValueError):
        length = None
    if length is None:
        raise PrefixRefused(ProblemCode.INVALID_PREFIX, "not an address and a length")
    if length > bits:
        raise PrefixRefused(ProblemCode.INVALID_PREFIX, f"a length of {length} is more than {bits}")
    start, hosts = int.from_bytes(first), (1 << (bits - length)) - 1
    if start & hosts:
        canonical = unpack((start & ~hosts).to_bytes(bits // 8))
        raise PrefixRefused(
            ProblemCode.HOST_BITS, f"bits are set behind the length; the block is {canonical}/{length}"
        )
    last = (start | hosts).to_bytes(bits // 8)
    return Prefix(number, first, last, length, f"{inet_ntop(kind, first)}/{digits}")


def parse_range(text: str) -> tuple[bytes, bytes] | None:
    """First and last address of `a - b`, blanks ignored, or None."""
    start, dash, end = text.partition("-")
    first, last = pack(start.strip()), pack(end.strip())
    if not dash or first is None or last is None or first[0] != last[0]:
        return None
    return first[1], last[1]


def is_range_of(text: str, block: Prefix) -> bool:
    """Whether `a - b` is the block, however its addresses are written."""
    if text == _usual_range(block):
        return True
    return parse_range(text) == (block.first, block.last)


def _usual_range(block: Prefix) -> str:
    """As most write it: addresses of IPv6 with all their digits."""
    if block.family == _IPV6:
        return f"{block.first.hex(':', 2)} - {block.last.hex(':', 2)}"
    return f"{block.text.partition('/')[0]} - {unpack(block.last)}"
