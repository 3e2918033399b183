"""What two readings of a counter mean. Pure: the same readings give the same answer.

The difference comes first and any sum later: summing the peers of a link and then taking the difference would
turn the reset of one of them into a dip of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from shared.protocol.reports import CounterReading

#: Seconds between two samples of an agent.
INTERVAL = 30.0
#: A longer silence is a hole: what went by in it is not smeared over it.
_LONGEST = 3 * INTERVAL
#: More than this share of what the link can carry is no measurement.
_MARGIN = 1.2
#: 32-bit counters of a faster link wrap so often that a wrap cannot be told from a reset.
_FASTEST_NARROW_LINK = 500_000_000
#: Taken for links that say no speed, such as tunnels.
_GREATEST_LINK = 400_000_000_000
_WRAP = 2**32
#: Some drivers step back by less than a small packet; that is neither traffic nor a reset.
_STEP_BACK = 64
_BITS = 8


class Why(StrEnum):
    """Why there is no rate."""

    FIRST = "first"
    EPOCH = "epoch"
    ORDER = "order"
    RESET = "reset"
    GAP = "gap"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Difference:
    """What was counted between two readings, or why that is not known."""

    seconds: float = 0.0
    received_bytes: int = 0
    sent_bytes: int = 0
    received_packets: int | None = None
    sent_packets: int | None = None
    why_not: Why | None = None

    @property
    def known(self) -> bool:
        """Whether it is a measurement."""
        return self.why_not is None


@dataclass(frozen=True, slots=True)
class Counted:
    """One counter at one instant."""

    value: int
    at: float
    epoch: str = ""
    width: int = 64
    link_bits: int | None = None


def rate(before: Counted | None, now: Counted) -> float | None:
    """Bytes a second between two readings of one counter; None where that is not known."""
    if before is None or _timing(before, now) is not None:
        return None
    counted = _counted(before.value, now, now.at - before.at)
    return counted / (now.at - before.at) if isinstance(counted, int) else None


def difference(
    before: CounterReading | None, now: CounterReading, seconds: float, *, same_boot: bool = True
) -> Difference:
    """What went over a link between two readings that are `seconds` apart by the agent's monotonic clock."""
    old = None if before is None else Counted(0, 0.0, before.epoch)
    new = Counted(0, seconds, now.epoch if same_boot else f"{now.epoch} anew")
    why = _timing(old, new)
    if why is not None or before is None:
        return Difference(why_not=why)
    both = [
        _counted(before.received_bytes, _reading(now, now.received_bytes), seconds),
        _counted(before.sent_bytes, _reading(now, now.sent_bytes), seconds),
    ]
    for found in both:
        if isinstance(found, Why):
            return Difference(why_not=found)
    received, sent = (found for found in both if isinstance(found, int))
    return Difference(
        seconds=seconds,
        received_bytes=received,
        sent_bytes=sent,
        received_packets=_packets(before.received_packets, now.received_packets, now.width),
        sent_packets=_packets(before.sent_packets, now.sent_packets, now.width),
    )


def added(differences: Iterable[Difference], seconds: float) -> Difference:
    """Several links together, as far as they are known; unknown where none is."""
    known = [found for found in differences if found.known]
    if not known:
        return Difference(why_not=Why.GAP)
    return Difference(
        seconds=seconds,
        received_bytes=sum(found.received_bytes for found in known),
        sent_bytes=sum(found.sent_bytes for found in known),
        received_packets=_sum(found.received_packets for found in known),
        sent_packets=_sum(found.sent_packets for found in known),
    )


def _timing(before: Counted | None, now: Counted) -> Why | None:
    if before is None:
        return Why.FIRST
    if before.epoch != now.epoch:
        return Why.EPOCH
    if now.at <= before.at:
        return Why.ORDER
    return Why.GAP if now.at - before.at > _LONGEST else None


def _reading(now: CounterReading, value: int) -> Counted:
    return Counted(value, 0.0, now.epoch, now.width, now.link_bits)


def _counted(before: int, now: Counted, seconds: float) -> int | Why:
    counted = now.value - before
    if counted < 0 and -counted < _STEP_BACK:
        return 0
    if counted < 0:
        if now.width == 64 or not _wraps_visibly(now.link_bits):  # noqa: PLR2004 - the width itself
            return Why.RESET
        counted += _WRAP
        if now.link_bits is not None and counted * _BITS / seconds > now.link_bits:
            return Why.RESET
    elif now.width == 32 and not _wraps_visibly(now.link_bits):  # noqa: PLR2004
        return Why.IMPOSSIBLE
    if counted * _BITS / seconds > _MARGIN * (now.link_bits or _GREATEST_LINK):
        return Why.IMPOSSIBLE
    return counted


def _wraps_visibly(link_bits: int | None) -> bool:
    return link_bits is not None and link_bits <= _FASTEST_NARROW_LINK


def _packets(before: int | None, now: int | None, width: int) -> int | None:
    if before is None or now is None:
        return None
    counted = now - before
    if counted < 0 and width == 32:  # noqa: PLR2004
        counted += _WRAP
    return counted if counted >= 0 else None


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
