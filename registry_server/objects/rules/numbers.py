"""AS numbers and address blocks, read strictly: what passes here is safe for a database and a router."""

from __future__ import annotations

import re
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton

from registry_server.objects.schemas import Prefix, ProblemCode

MAX_ASN = 2**32 - 1
_ASN = re.compile(r"(?:AS)?([0-9]{1,10})", re.ASCII | re.IGNORECASE)
_LENGTH = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
_BITS = {4: 32, 6: 128}


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
    address, slash, digits = text.partition("/")
    packed = pack(address)
    if packed is None or not slash or not _LENGTH.fullmatch(digits):
        raise PrefixRefused(ProblemCode.INVALID_PREFIX, "not an address and a length")
    family, first = packed
    bits, length = _BITS[family], int(digits)
    if length > bits:
        raise PrefixRefused(ProblemCode.INVALID_PREFIX, f"a length of {length} is more than {bits}")
    number, hosts = int.from_bytes(first), (1 << (bits - length)) - 1
    if number & hosts:
        canonical = unpack((number & ~hosts).to_bytes(bits // 8))
        raise PrefixRefused(
            ProblemCode.HOST_BITS, f"bits are set behind the length; the block is {canonical}/{length}"
        )
    last = (number | hosts).to_bytes(bits // 8)
    return Prefix(family, first, last, length, f"{unpack(first)}/{length}")


def parse_range(text: str) -> tuple[bytes, bytes] | None:
    """First and last address of `a - b`, blanks ignored, or None."""
    start, dash, end = text.partition("-")
    first, last = pack(start.strip()), pack(end.strip())
    if not dash or first is None or last is None or first[0] != last[0]:
        return None
    return first[1], last[1]
