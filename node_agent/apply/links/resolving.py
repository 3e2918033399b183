"""A peer whose name leads elsewhere now: asked for again when its tunnel has gone quiet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from node_agent.apply.commands import HostTool
from node_agent.apply.links.observing import HostLinks
from node_agent.apply.links.planning import Action, Step, literal
from shared.protocol.desired_state.document import DesiredState
from shared.protocol.desired_state.links import WireGuardLink

#: A session is renewed after 120 s; a little more is silence.
QUIET_AFTER = timedelta(seconds=135)
_FIRST_PAUSE = timedelta(seconds=60)
_LONGEST_PAUSE = timedelta(minutes=15)


@dataclass(slots=True)
class Resolver:
    """Remembers when it last tried each tunnel, and waits twice as long after each try in vain."""

    _tries: dict[str, tuple[datetime, timedelta]] = field(default_factory=dict)

    def due(self, state: DesiredState, host: HostLinks, now: datetime) -> tuple[Action, ...]:
        """Actions for tunnels that are quiet and whose endpoint is a name."""
        return tuple(self._due(state, host, now))

    def _due(self, state: DesiredState, host: HostLinks, now: datetime) -> Iterator[Action]:
        for link in state.links:
            if not isinstance(link, WireGuardLink) or link.endpoint is None or literal(link.endpoint):
                continue
            if not _quiet(link.interface, host, now):
                self._tries.pop(link.interface, None)
                continue
            tried, pause = self._tries.get(link.interface, (None, _FIRST_PAUSE))
            if tried is not None and now - tried < pause:
                continue
            self._tries[link.interface] = (now, min(pause * 2, _LONGEST_PAUSE) if tried else _FIRST_PAUSE)
            arguments = ("set", link.interface, "peer", link.peer_public_key, "endpoint", link.endpoint)
            yield Action(f"look up {link.endpoint} again", (Step(HostTool.WG, arguments),))


def _quiet(interface: str, host: HostLinks, now: datetime) -> bool:
    there = host.get(interface)
    if there is None or there.wireguard is None:
        return False
    heard = [peer.latest_handshake for peer in there.wireguard.peers]
    return all(instant is None or now - instant > QUIET_AFTER for instant in heard)
