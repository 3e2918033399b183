"""What a change does to the sessions of a node: which go on, which begin, which begin anew, which end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from control_server.policy.schemas import SessionEffects
from shared.protocol.desired_state.document import DesiredState

#: What BIRD takes over without ending a session; everything else of it makes the session begin anew.
_IN_PLACE = {
    "local_pref",
    "prepend",
    "quality",
    "prefix_list",
    "blackhole",
    "drain",
    "import_limit",
    "receive_limit",
}


def session_effects(before: DesiredState | None, after: DesiredState) -> SessionEffects:
    """By the names of sessions, inside ones as `ibgp_` and the node."""
    old, new = _sessions(before), _sessions(after)
    both = [name for name in new if name in old]
    restarted = [name for name in both if old[name] != new[name]]
    return SessionEffects(
        kept=len(both) - len(restarted),
        added=[name for name in new if name not in old],
        restarted=restarted,
        removed=[name for name in old if name not in new],
    )


def _sessions(state: DesiredState | None) -> Mapping[str, Any]:
    """What a session cannot change while it runs, by its name."""
    if state is None or not state.routing:
        return {}
    own = (state.node.asn, state.node.router_id)
    found: dict[str, Any] = {}
    for peering in state.peerings:
        session = peering.session.model_dump(exclude={"policy": _IN_PLACE})
        found[peering.name] = (own, peering.asn, session)
    source = state.node.loopback6 or state.node.loopback4
    for neighbor in state.ibgp.neighbors:
        found[f"ibgp_{neighbor.name}"] = (own, source, neighbor, state.ibgp.mode, state.ibgp.bfd)
    return found
