"""From counted groups of routes to the numbers of a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from control_server.routing import rules
from control_server.routing.repository.numbers import BestGroup, ProtocolGroup
from control_server.routing.schemas import CountRead, NodeRoutingRead, PeerRoutingRead, RpkiRead
from shared.protocol.fleet import Sight

if TYPE_CHECKING:
    from control_server.routing.models import RoutingState


def node_read(
    node_id: str,
    state: RoutingState | None,
    best: Sequence[BestGroup],
    protocols: Sequence[ProtocolGroup],
) -> NodeRoutingRead:
    """The numbers of a node; of one that has told nothing yet as well."""
    if state is None:
        return NodeRoutingRead(node_id=node_id, sight=Sight.NOT_OBSERVED, reason="", complete=False)
    lengths: dict[int, Counter[int]] = {4: Counter(), 6: Counter()}
    validities: Counter[str] = Counter()
    hops: Counter[int] = Counter()
    for group in best:
        lengths[group.family][group.length] += group.routes
        validities[group.validity] += group.routes
        if group.hops is not None:
            hops[group.hops] += group.routes
    return NodeRoutingRead(
        node_id=node_id,
        sight=Sight(state.sight),
        reason=state.reason,
        complete=state.complete_at is not None,
        taken_at=state.taken_at,
        received_at=state.received_at,
        prefixes4=lengths[4].total(),
        prefixes6=lengths[6].total(),
        routes=sum(group.routes for group in protocols),
        filtered=sum(group.routes for group in protocols if group.filtered),
        rpki=RpkiRead.model_validate(validities),
        peers=_peers(protocols),
        lengths4=_counts(lengths[4]),
        lengths6=_counts(lengths[6]),
        path_lengths=_counts(hops),
    )


def _peers(groups: Sequence[ProtocolGroup]) -> list[PeerRoutingRead]:
    found: dict[str, PeerRoutingRead] = {}
    for group in groups:
        peer = found.setdefault(
            group.protocol,
            PeerRoutingRead(protocol=group.protocol, received=0, accepted=0, best=0, filtered=0, reasons={}),
        )
        peer.received += group.routes
        if group.filtered:
            name = rules.name_of(group.reason)
            peer.filtered += group.routes
            peer.reasons[name] = peer.reasons.get(name, 0) + group.routes
        else:
            peer.accepted += group.routes
            peer.best += group.routes if group.best else 0
    return [found[name] for name in sorted(found)]


def _counts(counted: Mapping[int, int]) -> list[CountRead]:
    return [CountRead(value=value, count=count) for value, count in sorted(counted.items())]
