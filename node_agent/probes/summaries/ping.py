"""What ping prints: iputils (2016 to 2024) and busybox, with and without its final statistics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{1,9})?"
_COUNTS = re.compile(r"([0-9]{1,12}) packets transmitted, ([0-9]{1,12}) (?:packets )?received", re.ASCII)
_EXTRA = re.compile(r"\+?([0-9]{1,12}) (duplicates|errors|corrupted)", re.ASCII)
_LOSS = re.compile(rf"({_NUMBER})% packet loss", re.ASCII)
_TIMES = re.compile(
    rf"(?:rtt|round-trip) min/avg/max(?:/mdev)? = "
    rf"({_NUMBER})/({_NUMBER})/({_NUMBER})(?:/({_NUMBER}))? ms",
    re.ASCII,
)
_REPLY = re.compile(
    rf"bytes from .*\b(?:icmp_)?seq=([0-9]{{1,9}})\b.*?\btime[=<]({_NUMBER}) ?ms(.*)", re.ASCII
)
_SILENCE = re.compile(r"no answer yet for icmp_seq=([0-9]{1,9})", re.ASCII)
_ERROR = re.compile(r"From .*\bicmp_seq=([0-9]{1,9}) \S", re.ASCII)


def parse_ping(lines: Iterable[str]) -> dict[str, Any]:
    """`{transmitted, received, loss_percent, min_ms, avg_ms, max_ms, mdev_ms, duplicates, errors}`.

    Times are null when nothing came back. When ping was stopped before its statistics, the counts are
    those of the lines that came, and `complete` is false.
    """
    observed = _Observed()
    for line in lines:
        observed.feed(line)
    return observed.summary()


class _Observed:
    def __init__(self) -> None:
        self.statistics: dict[str, Any] = {}
        self.rtts: dict[int, float] = {}
        self.asked: set[int] = set()
        self.failed: set[int] = set()
        self.duplicates = 0

    def feed(self, line: str) -> None:
        """Take one line of output."""
        if reply := _REPLY.search(line):
            self._take_reply(int(reply[1]), max(0.0, float(reply[2])), reply[3])
        elif silence := _SILENCE.search(line):
            self.asked.add(int(silence[1]))
        elif error := _ERROR.search(line):
            self.failed.add(int(error[1]))
        elif counts := _COUNTS.search(line):
            self._take_counts(line, int(counts[1]), int(counts[2]))
        elif times := _TIMES.search(line):
            names = ("min_ms", "avg_ms", "max_ms", "mdev_ms")
            # A clock that stepped back gives negative times, which are no times.
            self.statistics |= {
                name: max(0.0, float(text)) if text else None
                for name, text in zip(names, times.groups(), strict=True)
            }

    def _take_reply(self, seq: int, rtt: float, rest: str) -> None:
        if "(DUP!)" in rest:
            self.duplicates += 1
        else:
            self.rtts[seq] = rtt

    def _take_counts(self, line: str, transmitted: int, received: int) -> None:
        extra = {name: int(count) for count, name in _EXTRA.findall(line)}
        loss = _LOSS.search(line)
        self.statistics |= {
            "transmitted": transmitted,
            "received": received,
            "loss_percent": float(loss[1]) if loss else _loss(transmitted, received),
            "duplicates": extra.get("duplicates", 0),
            "errors": extra.get("errors", 0),
        }

    def summary(self) -> dict[str, Any]:
        """The statistics ping printed, or else what the lines tell."""
        times = list(self.rtts.values())
        sequences = self.rtts.keys() | self.asked | self.failed
        told: dict[str, Any] = {
            "transmitted": len(sequences),
            "received": len(times),
            "loss_percent": _loss(len(sequences), len(times)),
            "min_ms": min(times, default=None),
            "avg_ms": round(sum(times) / len(times), 3) if times else None,
            "max_ms": max(times, default=None),
            "mdev_ms": None,
            "duplicates": self.duplicates,
            "errors": len(self.failed),
        }
        if "transmitted" in self.statistics:
            told |= {"min_ms": None, "avg_ms": None, "max_ms": None}
        return {**told, **self.statistics, "complete": "transmitted" in self.statistics}


def _loss(transmitted: int, received: int) -> float | None:
    return round(100 * max(0, transmitted - received) / transmitted, 2) if transmitted else None
