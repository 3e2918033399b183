"""Free TCP ports on loopback."""

import secrets
import socket

# Below the range from which Linux takes the source ports of outgoing connections: a server that is stopped
# and started again in mid-test finds its port free, whatever else the machine connected to meanwhile.
FIRST, LAST = 20_000, 32_000


def free_loopback_port() -> int:
    while True:
        port = FIRST + secrets.randbelow(LAST - FIRST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
