"""mtr as it goes: its raw events become lines for people, hop by hop and cycle by cycle.

`--raw` is mtr's only form that comes while it runs; the report prints nothing until the end. What is
shown is our wording of the same events, then the report's table.
"""

from __future__ import annotations

from node_agent.probes.summaries.mtr import MtrHop, MtrTrace


class MtrLive:
    """Turns raw events into readable lines."""

    def __init__(self, target: str) -> None:
        self._trace = MtrTrace(target)
        self._shown: set[tuple[int, str]] = set()
        self._cycle = 0

    def feed(self, line: str) -> list[str]:
        """The lines that this event gives; a line that is no event is passed on as it is."""
        event = self._trace.feed(line)
        if event is None:
            return [line] if line.strip() else []
        kind, hop = event
        if kind == "x" and hop == 0:
            return self._begin_cycle()
        return self._show_hop(hop) if kind == "p" else []

    def finish(self, *, complete: bool) -> list[str]:
        """The last cycle's line and the final table."""
        last = [self._cycle_line()] if self._cycle else []
        return [*last, "", *_table(self._trace.hops(complete=complete))]

    def summary(self, *, complete: bool) -> dict[str, object]:
        """The parsed result."""
        return self._trace.summary(complete=complete)

    def _begin_cycle(self) -> list[str]:
        ended = [self._cycle_line()] if self._cycle else []
        self._cycle += 1
        return ended

    def _show_hop(self, index: int) -> list[str]:
        hop = self._trace.seen[index]
        address = hop.address or "???"
        if not hop.rtts_ms or (index, address) in self._shown or index > self._trace.last_index:
            return []
        self._shown.add((index, address))
        return [f"{index + 1:>3}  {address}  {hop.last_ms:.3f} ms"]

    def _cycle_line(self) -> str:
        hops = self._trace.hops(complete=False)
        answered = sum(1 for hop in hops if hop.received)
        text = f"cycle {self._cycle}: {answered} of {len(hops)} hops answered"
        if self._trace.reached and hops and hops[-1].rtts_ms:
            return f"{text}, target in {hops[-1].last_ms:.3f} ms"
        return f"{text}, target not reached"


def _table(hops: list[MtrHop]) -> list[str]:
    width = max((len(hop.address or "???") for hop in hops), default=0)
    head = f"{'Hop':>3}  {'Address':<{width}}  {'Loss%':>6} {'Snt':>5}"
    head += "".join(f"{name:>9}" for name in ("Last", "Avg", "Best", "Wrst", "StDev"))
    return [head, *(_row(number, hop, width) for number, hop in enumerate(hops, start=1))]


def _row(number: int, hop: MtrHop, width: int) -> str:
    left = f"{number:>3}  {hop.address or '???':<{width}}  {hop.loss_percent:>5.1f}% {hop.sent:>5}"
    if not hop.rtts_ms:
        return left
    figures = (hop.last_ms, hop.average_ms, min(hop.rtts_ms), max(hop.rtts_ms), hop.deviation_ms)
    return left + "".join(f"{figure:>9.3f}" for figure in figures)
