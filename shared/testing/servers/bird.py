"""A BIRD of its own for each test, with its control socket in the test's directory."""

import socket
from collections.abc import Sequence
from pathlib import Path

from shared.testing.servers.process import ServerProcess, find_program

PACKAGE = "bird2"
_GREETING = b"0001"


class BirdServer(ServerProcess):
    """Debian's bird in the foreground, in a network namespace when one is named."""

    def __init__(self, directory: Path, configuration: Path, namespace: str | None = None) -> None:
        super().__init__(directory / "bird.log")
        self.socket = directory / "bird.ctl"
        self._configuration = configuration
        self._pid_file = directory / "bird.pid"
        self._namespace = namespace

    def command(self) -> Sequence[str]:
        inside = () if self._namespace is None else ("ip", "netns", "exec", self._namespace)
        bird = find_program("bird", PACKAGE)
        return (
            *inside,
            *(bird, "-f", "-c", str(self._configuration), "-s", str(self.socket), "-P", str(self._pid_file)),
        )

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(1)
            try:
                asking.connect(str(self.socket))
                return asking.recv(4) == _GREETING
            except OSError:
                return False

    def start(self) -> None:
        for left in (self.socket, self._pid_file):
            if not self.running:
                left.unlink(missing_ok=True)
        super().start()
