"""What differs between what should run and what does, in words for the node's page."""

from __future__ import annotations

from dataclasses import dataclass

from node_agent.apply.daemon import Running
from node_agent.apply.links.planning import LinkPlan
from shared.protocol.fleet import DriftItem, DriftSeverity


@dataclass(frozen=True, slots=True)
class Wanted:
    """What should run."""

    identity: str
    #: The configuration that the last pass has left.
    proven: str | None
    #: Digest of the operators' own files as they are now.
    local: str


def drift_items(plan: LinkPlan, running: Running, aim: Wanted) -> list[DriftItem]:
    """Differences that nobody asked for: a generation that is on its way is none."""
    wanted, proven = aim.identity, aim.proven
    found = []
    if running.identity is None:
        found.append(
            _item("configuration", DriftSeverity.CRITICAL, wanted, "a configuration of somebody else")
        )
    elif running.identity not in {wanted, proven}:
        found.append(_item("configuration", DriftSeverity.CRITICAL, wanted, running.identity))
    elif running.local != aim.local:
        found.append(
            _item("local files", DriftSeverity.INFO, "taken with the next generation", "changed since")
        )
    if running.unconfirmed:
        found.append(_item("configuration", DriftSeverity.WARNING, "confirmed", "waits for its confirmation"))
    if proven is not None and _generation(proven) == _generation(wanted):
        found += [
            _item("link", DriftSeverity.WARNING, action.text, "not so")
            for action in (*plan.before, *plan.after)
        ]
    return found


def _item(subject: str, severity: DriftSeverity, desired: str, observed: str) -> DriftItem:
    return DriftItem(subject=subject, severity=severity, desired=desired, observed=observed)


def _generation(identity: str) -> str:
    return identity.partition("-")[0]
