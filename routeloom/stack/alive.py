"""`python -m routeloom.stack.alive PORT PATH`: the health check of a container, quick to start."""

from __future__ import annotations

import http.client
import sys

_SECONDS = 4


def answers(port: int, path: str) -> bool:
    """Whether this container's server answers 200 on loopback."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if answers(int(sys.argv[1]), sys.argv[2]) else 1)
