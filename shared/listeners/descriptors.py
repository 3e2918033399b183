"""How many files and sockets this process may have open."""

from __future__ import annotations

import resource

import structlog

log = structlog.get_logger(__name__)
#: Enough for every port of ours with all the connections that it keeps, and for what else a process opens.
_PLENTY = 65_536
#: Databases, logs, pipes and HTTP beside the connections of one port.
_OTHERS = 256


def make_room(connections: int) -> None:
    """Raise the soft limit, which is 1,024 on many hosts, as far as the hard one and need be.

    A process without descriptors left accepts nobody on any port: clients that fill one would keep everybody
    out of all.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _PLENTY if hard == resource.RLIM_INFINITY else min(hard, _PLENTY)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if hard != resource.RLIM_INFINITY and hard < connections + _OTHERS:
        log.warning("few_descriptors", allowed=hard, connections=connections)
