"""The words of the RPKI-to-router protocol (RFC 8210, and RFC 6810 for version 0), byte for byte."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from registry_server.roas.schemas import Roa

HEADER = struct.Struct("!BBHL")
#: Version 2 is a draft: who opens with it is answered in version 1, as RFC 8210, section 7, allows.
NEWEST = 1
VERSIONS = (0, 1)
_PREFIX = struct.Struct("!BBBx")
_LENGTHS = {4: HEADER.size + 12, 6: HEADER.size + 24}
#: By family, which happens to have the same numbers.
PREFIX_TYPES = {4: 4, 6: 6}


class Pdu(IntEnum):
    """Types of PDUs that have no prefix."""

    SERIAL_NOTIFY = 0
    SERIAL_QUERY = 1
    RESET_QUERY = 2
    CACHE_RESPONSE = 3
    END_OF_DATA = 7
    CACHE_RESET = 8
    ERROR_REPORT = 10


class Fault(IntEnum):
    """Codes of error reports (RFC 8210, section 12)."""

    CORRUPT_DATA = 0
    INTERNAL_ERROR = 1
    NO_DATA = 2
    INVALID_REQUEST = 3
    UNSUPPORTED_VERSION = 4
    UNSUPPORTED_PDU = 5
    UNEXPECTED_VERSION = 8


@dataclass(frozen=True, slots=True)
class Intervals:
    """Seconds, as they are told to routers of version 1."""

    refresh: int
    retry: int
    expire: int


def prefix_pdus(roas: Iterable[Roa], version: int, *, announced: bool) -> bytes:
    """One PDU for each ROA."""
    parts = []
    for roa in roas:
        parts += [
            HEADER.pack(version, PREFIX_TYPES[roa.family], 0, _LENGTHS[roa.family]),
            _PREFIX.pack(announced, roa.length, roa.max_length),
            roa.first,
            roa.origin.to_bytes(4),
        ]
    return b"".join(parts)


def cache_response(version: int, session: int) -> bytes:
    """What comes before the prefixes."""
    return HEADER.pack(version, Pdu.CACHE_RESPONSE, session, HEADER.size)


def end_of_data(version: int, session: int, serial: int, intervals: Intervals) -> bytes:
    """What comes behind them; version 0 knows no intervals."""
    if version == 0:
        return HEADER.pack(0, Pdu.END_OF_DATA, session, 12) + serial.to_bytes(4)
    body = struct.pack("!LLLL", serial, intervals.refresh, intervals.retry, intervals.expire)
    return HEADER.pack(version, Pdu.END_OF_DATA, session, HEADER.size + len(body)) + body


def cache_reset(version: int) -> bytes:
    """The router is to ask for everything; what it has it keeps until then."""
    return HEADER.pack(version, Pdu.CACHE_RESET, 0, HEADER.size)


def serial_notify(version: int, session: int, serial: int) -> bytes:
    """There is something new."""
    return HEADER.pack(version, Pdu.SERIAL_NOTIFY, session, 12) + serial.to_bytes(4)


def serial_query(version: int, session: int, serial: int) -> bytes:
    """What a router asks that has the serial of the session."""
    return HEADER.pack(version, Pdu.SERIAL_QUERY, session, 12) + serial.to_bytes(4)


def error_report(version: int, fault: Fault, about: bytes, text: str) -> bytes:
    """What is wrong with the PDU `about`, for people."""
    words = text.encode()
    body = len(about).to_bytes(4) + about + len(words).to_bytes(4) + words
    return HEADER.pack(version, Pdu.ERROR_REPORT, fault, HEADER.size + len(body)) + body
