"""mtr's raw events (`mtr --raw`): `x` sent, `h` host, `p` reply, `d` name; hops are counted from 0.

A host line comes twice, hops beyond the target come too, and the order is not that of the path.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_EVENT = re.compile(r"([xhpdm]) ([0-9]{1,3})(?: (\S+))?(?: ([0-9]{1,9}))?\s*", re.ASCII)
_GREATEST_HOP = 255
#: Digits of a reply time in microseconds; longer is not a time.
_TIME_DIGITS = 12


@dataclass(slots=True)
class MtrHop:
    """What one hop answered."""

    addresses: list[str] = field(default_factory=list)
    rtts_ms: list[float] = field(default_factory=list)
    sent: int = 0
    #: A probe is under way whose reply may still come.
    in_flight: bool = False

    @property
    def address(self) -> str | None:
        """The first address that answered; a hop with several paths has more."""
        return self.addresses[0] if self.addresses else None

    @property
    def received(self) -> int:
        """Replies."""
        return len(self.rtts_ms)

    @property
    def loss_percent(self) -> float:
        """Share of probes without a reply."""
        return round(100 * max(0, self.sent - self.received) / self.sent, 1) if self.sent else 0.0

    @property
    def last_ms(self) -> float:
        """The newest reply time."""
        return self.rtts_ms[-1]

    @property
    def average_ms(self) -> float:
        """The mean reply time."""
        return statistics.fmean(self.rtts_ms)

    @property
    def deviation_ms(self) -> float:
        """The sample deviation; 0 for a single reply."""
        return statistics.stdev(self.rtts_ms) if len(self.rtts_ms) > 1 else 0.0


class MtrTrace:
    """The path so far."""

    def __init__(self, target: str) -> None:
        self._target = target
        self.seen: dict[int, MtrHop] = {}

    def feed(self, line: str) -> tuple[str, int] | None:
        """Take one event and answer its kind and hop; None for a line that is no event."""
        found = _EVENT.fullmatch(line)
        if found is None or int(found[2]) > _GREATEST_HOP:
            return None
        kind, index, word = found[1], int(found[2]), found[3] or ""
        hop = self.seen.setdefault(index, MtrHop())
        if kind == "x":
            hop.sent += 1
            hop.in_flight = True
        elif kind == "h" and word not in hop.addresses:
            hop.addresses.append(word)
        elif kind == "p" and word.isdecimal() and len(word) <= _TIME_DIGITS:
            hop.rtts_ms.append(int(word) / 1000)
            hop.in_flight = False
        return kind, index

    @property
    def reached(self) -> bool:
        """Whether the target itself answered."""
        return any(self._target in hop.addresses for hop in self.seen.values())

    @property
    def last_index(self) -> int:
        """The path's last hop: the target, or the farthest one that was asked."""
        at_target = [index for index, hop in self.seen.items() if self._target in hop.addresses]
        return min(at_target, default=max(self.seen, default=-1))

    def hops(self, *, complete: bool) -> list[MtrHop]:
        """The path's hops in order. Before the end, a probe without a reply yet is not a loss."""
        return [self._settled(index, complete=complete) for index in range(self.last_index + 1)]

    def _settled(self, index: int, *, complete: bool) -> MtrHop:
        hop = self.seen.get(index, MtrHop())
        pending = int(hop.in_flight and not complete)
        # An old reply can outrun the count when mtr was joined late; never report more than was sent.
        sent = max(hop.sent - pending, hop.received)
        return MtrHop(hop.addresses, hop.rtts_ms, sent)

    def summary(self, *, complete: bool) -> dict[str, Any]:
        """`{target, reached, hops: [{hop, address, addresses, sent, received, loss_percent, …_ms}]}`."""
        hops = [_hop_summary(number, hop) for number, hop in enumerate(self.hops(complete=complete), start=1)]
        return {"target": self._target, "reached": self.reached, "hops": hops}


def _hop_summary(number: int, hop: MtrHop) -> dict[str, Any]:
    rtts = hop.rtts_ms
    return {
        "hop": number,
        "address": hop.address,
        "addresses": list(hop.addresses),
        "sent": hop.sent,
        "received": hop.received,
        "loss_percent": hop.loss_percent,
        "last_ms": rtts[-1] if rtts else None,
        "avg_ms": round(hop.average_ms, 3) if rtts else None,
        "best_ms": min(rtts, default=None),
        "worst_ms": max(rtts, default=None),
        "stdev_ms": round(hop.deviation_ms, 3) if rtts else None,
    }


def parse_mtr(lines: Iterable[str], target: str, *, complete: bool = True) -> dict[str, Any]:
    """The summary of raw lines."""
    trace = MtrTrace(target)
    for line in lines:
        trace.feed(line)
    return trace.summary(complete=complete)
