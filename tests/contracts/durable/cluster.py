"""A Valkey Cluster of three masters, started by the tests."""

from __future__ import annotations

import subprocess
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from redis import Redis

from shared.testing.servers.key_value import VALKEY_STATE, KeyValueServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SLOTS = 16_384


class ClusterNode(KeyValueServer):
    """A node whose cluster port is a free one near its own."""

    def command(self) -> Sequence[str]:
        return [*super().command(), "--cluster-enabled", "yes", "--cluster-port", str(self.port + 10_000)]


@contextmanager
def valkey_cluster(directory: Path, masters: int = 3) -> Iterator[str]:
    """The URL of one node of a cluster whose slots are all served."""
    with ExitStack() as stack:
        nodes = []
        for number in range(masters):
            node = ClusterNode(VALKEY_STATE, directory / f"node-{number}", None)
            stack.callback(node.kill)
            node.start_first()
            nodes.append(node)
        clients: list[Any] = [stack.enter_context(Redis(port=node.port)) for node in nodes]
        for number, client in enumerate(clients):
            first, last = number * SLOTS // masters, (number + 1) * SLOTS // masters - 1
            client.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            client.execute_command("CLUSTER MEET", "127.0.0.1", nodes[0].port, nodes[0].port + 10_000)
        _wait_until_whole(clients, masters)
        yield nodes[0].url


def _wait_until_whole(clients: Sequence[Any], masters: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        known = [str(client.execute_command("CLUSTER INFO")) for client in clients]
        if all("cluster_state:ok" in text or "cluster_state': 'ok'" in text for text in known) and all(
            len(client.execute_command("CLUSTER NODES")) == masters for client in clients
        ):
            return
        time.sleep(0.05)
    raise subprocess.SubprocessError("the cluster did not form")
