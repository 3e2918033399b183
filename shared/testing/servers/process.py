"""One server process: started, stopped, killed, frozen and thawed by a test."""

import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from shared.testing.servers.ports import free_loopback_port

HOST = "127.0.0.1"
START_WITHIN = 60.0
STOP_WITHIN = 60.0
PORT_ATTEMPTS = 5

# A child is told of its parent's death when the *thread* that started it ends, and a test may call start()
# from a short-lived one. This thread lives as long as the interpreter.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="test-servers")


class ServerMissing(RuntimeError):
    """A server that the tests need is not installed."""

    def __init__(self, program: str, package: str) -> None:
        super().__init__(f"{program} is not installed: the tests need the Debian package {package}.")


class ServerFailed(RuntimeError):
    """A server did not come up, or did not go away."""


def find_program(program: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise ServerMissing(program, package)
    return found


class ServerProcess:
    """A server that keeps its port and its data across stop() and start()."""

    host = HOST
    stop_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_loopback_port()

    @property
    def pid(self) -> int:
        if self._process is None:
            raise ServerFailed("the server is stopped and has no process")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start_first(self) -> None:
        """Start on a fresh port, again on another one when a neighbour took it in the same instant."""
        for _ in range(PORT_ATTEMPTS - 1):
            try:
                self.start()
            except ServerFailed:
                self.port = free_loopback_port()
            else:
                return
        self.start()

    def start(self) -> None:
        """Start, and return when the server answers; nothing happens when it already runs."""
        if self.running:
            return
        with self._log.open("ab") as log:
            self._process = _starter.submit(_spawn, self.command(), log).result()
        if not self._answers_in_time():
            self.kill()
            raise ServerFailed(f"the server did not start:\n{self.log_tail()}")

    def stop(self) -> None:
        """Shut down in order: what the server persists at shutdown is there at the next start()."""
        self._end(self.stop_signal)

    def kill(self) -> None:
        """End at once, as a crash does: nothing is saved."""
        self._end(self.kill_signal)

    def pause(self) -> None:
        """Freeze: connections stay open and nothing answers, until resume()."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def log_tail(self) -> str:
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])

    def command(self) -> Sequence[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        """Whether this very process, and not a stranger on its port, answers."""
        raise NotImplementedError

    def _answers_in_time(self) -> bool:
        deadline = time.monotonic() + START_WITHIN
        while self.running and time.monotonic() < deadline:
            if self.answers():
                return True
            time.sleep(0.01)
        return False

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        self._signal(number)
        self.resume()
        try:
            self._process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_WITHIN)
            raise ServerFailed(f"the server did not stop:\n{self.log_tail()}") from None
        finally:
            self._process = None


def _spawn(command: Sequence[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C in the terminal ends pytest, which then ends its servers in order.
    return subprocess.Popen(
        [find_program("setpriv", "util-linux"), "--pdeathsig", "TERM", *command],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
