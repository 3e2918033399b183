"""A BIRD of its own for each test, with its control socket in the test's directory."""

from collections.abc import Sequence
from pathlib import Path

from shared.testing.servers.process import ServerProcess, find_program

PACKAGE = "bird2"


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
        """BIRD makes its control socket after it has taken its configuration."""
        return self._pid_file.exists() and self.socket.exists()

    def start(self) -> None:
        for left in (self.socket, self._pid_file):
            if not self.running:
                left.unlink(missing_ok=True)
        super().start()
