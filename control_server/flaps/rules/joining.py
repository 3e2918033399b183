"""One state out of two: what the tier kept, and what SQL kept while the tier was away.

Scores are sums of charges that decay alike. So what SQL counted from nothing, after the tier's last word, is
added to it. Where one of the two knew the other, the newer one is the whole truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from control_server.flaps.rules.looks import SessionBase, SessionEntry
from control_server.flaps.rules.prefixes import PrefixBase, PrefixEntry
from control_server.flaps.rules.score import Tally
from control_server.flaps.schemas import SessionState


@dataclass(frozen=True, slots=True)
class Kept:
    """How SQL came to its state."""

    #: It began with nothing, at this instant; None: it began with all that the tier knew.
    from_nothing_at: float | None


def join_sessions(tier: SessionBase | None, table: SessionBase | None, kept: Kept) -> SessionBase | None:
    """What is known of a node's sessions."""
    if tier is None or table is None:
        return tier or table
    if tier.taken_at >= table.taken_at:
        return tier
    # The first look of SQL's charged nobody, so it may be the tier's last one.
    if kept.from_nothing_at is None or kept.from_nothing_at < tier.taken_at:
        return table
    sessions = {
        name: _joined(tier.sessions.get(name), table.sessions.get(name))
        for name in {**tier.sessions, **table.sessions}
    }
    return replace(table, sessions=sessions, node=tier.node.plus(table.node))


def join_prefixes(tier: PrefixBase | None, table: PrefixBase | None, kept: Kept) -> PrefixBase | None:
    """What is known of a node's prefixes."""
    if tier is None or table is None:
        return tier or table
    if tier.recent[-1:] >= table.recent[-1:]:
        return tier
    if kept.from_nothing_at is None or kept.from_nothing_at <= tier.taken_at:
        return table
    return replace(table, prefixes=_sums(tier.prefixes, table.prefixes))


def _joined(one: SessionEntry | None, other: SessionEntry | None) -> SessionEntry:
    if one is None or other is None:
        return one or other or SessionEntry(SessionState.UNKNOWN)
    return replace(other, tally=one.tally.plus(other.tally))


def _sums(one: Mapping[str, PrefixEntry], other: Mapping[str, PrefixEntry]) -> dict[str, PrefixEntry]:
    return {prefix: _sum(one.get(prefix), other.get(prefix)) for prefix in {**one, **other}}


def _sum(one: PrefixEntry | None, other: PrefixEntry | None) -> PrefixEntry:
    if one is None or other is None:
        return one or other or PrefixEntry(Tally())
    return PrefixEntry(
        tally=one.tally.plus(other.tally),
        withdrawals=one.withdrawals + other.withdrawals,
        paths=tuple(dict.fromkeys((*one.paths, *other.paths)))[-2:],
    )
