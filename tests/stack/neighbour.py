"""Another host for the agent to probe: a network namespace at the other end of a cable."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

#: Addresses of dn42; an agent refuses to probe its own.
HERE, TARGET = "172.20.0.52", "172.20.0.53"


@contextmanager
def neighbour() -> Iterator[None]:
    """It answers at TARGET for as long as the block lasts."""
    name = f"routeloom-target-{os.getpid()}"
    lines = (
        f"ip netns add {name}",
        f"ip link add cable type veth peer name cable-end netns {name}",
        f"ip address add {HERE}/31 dev cable",
        "ip link set cable up",
        f"ip -n {name} address add {TARGET}/31 dev cable-end",
        f"ip -n {name} link set cable-end up",
    )
    try:
        for line in lines:
            subprocess.run(line.split(), check=True)
        yield
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=False)
