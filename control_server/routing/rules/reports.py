"""What a report of routes means for what is known. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from control_server.routing.schemas import BestChange, BestKind, BestPath, ChangeCause, Known, Verdict
from shared.protocol.fleet import Sight
from shared.protocol.reports import PrefixReport, Route

#: An agent's clock is believed this far.
_TRUSTED = timedelta(minutes=2)
#: BIRD's start is computed anew at each display.
_SAME_START = timedelta(seconds=10)
#: Codes that import filters leave on what they refuse.
REASONS = {
    1: "default_route",
    2: "own_prefix",
    3: "prefix_not_allowed",
    4: "path_too_long",
    5: "asn_not_allowed",
    6: "first_asn",
    7: "not_in_prefix_list",
    8: "transit_asn",
    13: "rpki_invalid",
    14: "rpki_not_found",
    15: "rpki_invalid_snapshot",
    20: "blackhole_not_owned",
}
#: A filtered route without a code was kept out by a limit.
NO_REASON = "limit"


def verdict(known: Known, report: PrefixReport) -> Verdict:
    """Whether a report follows upon what is known."""
    if known.stream == report.stream and report.sequence <= known.sequence:
        return Verdict.REPEATED
    if report.begins or report.sight is not Sight.OBSERVED:
        # A look that saw nothing builds upon nothing.
        return Verdict.TAKE
    follows = known.stream == report.stream and known.sequence == report.base
    begun = known.synchronising or known.complete_at is not None
    return Verdict.TAKE if follows and begun else Verdict.OUT_OF_STEP


def cause(known: Known, report: PrefixReport) -> ChangeCause:
    """Why what the report says differs from what is known."""
    if known.complete_at is None:
        return ChangeCause.FIRST_SIGHT
    old, new = known.daemon_started_at, report.daemon_started_at
    if old is not None and new is not None and abs(new - old) > _SAME_START:
        return ChangeCause.DAEMON_RESTART
    if report.begins or known.synchronising:
        return ChangeCause.RESYNCHRONISED
    return ChangeCause.CHANGE


def instant(taken_at: datetime, now: datetime) -> datetime:
    """When it was, by the agent's clock as far as that can be right."""
    return taken_at if abs(taken_at - now) <= _TRUSTED else now


def best_of(routes: Iterable[Route]) -> BestPath | None:
    """The best path, if there is one."""
    for route in routes:
        if route.best and not route.filtered:
            return BestPath(route.protocol, route.origin, route.path, route.next_hop)
    return None


def best_change(prefix: str, before: Collection[Route], after: Collection[Route]) -> BestChange | None:
    """What became of the best path; None where it is the same, whatever became of others."""
    old, new = best_of(before), best_of(after)
    if old == new:
        return None
    if new is None:
        return BestChange(prefix, BestKind.WITHDRAWN, old, None)
    return BestChange(prefix, BestKind.CHANGED if old else BestKind.ANNOUNCED, old, new)


def reason_name(route: Route) -> str | None:
    """Why a route is filtered, in a word; None for one that is not."""
    if not route.filtered:
        return None
    return name_of(route.reason)


def name_of(reason: int | None) -> str:
    """A code in a word."""
    return NO_REASON if reason is None else REASONS.get(reason, f"code_{reason}")
