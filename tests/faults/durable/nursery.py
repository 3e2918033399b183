"""Worker processes that start in milliseconds: forked from one that has imported everything already."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.durable.rollout import Assignment

ROOT = Path(__file__).parents[3]


@dataclass
class Nursery:
    """Starts workers and knows which of them still run."""

    requests: IO[str]
    answers: IO[str]
    running: set[int] = field(default_factory=set)

    def start(self, assignment: Assignment) -> int:
        """Start a worker and return its process id."""
        self.requests.write(json.dumps(asdict(assignment)) + "\n")
        self.requests.flush()
        pid = int(self.answers.readline())
        self.running.add(pid)
        return pid

    def kill(self, pid: int) -> None:
        """End a worker as a crash does."""
        self.running.discard(pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def kill_all(self) -> None:
        for pid in list(self.running):
            self.kill(pid)


@contextmanager
def nursery() -> Iterator[Nursery]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.durable.nursery"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    workers = Nursery(process.stdin, process.stdout)
    try:
        yield workers
    finally:
        workers.kill_all()
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def main() -> None:
    from tests.faults.durable.rollout import Assignment, work

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os.close(0)
            os.close(1)
            status = 1
            try:
                asyncio.run(work(Assignment(**json.loads(line))))
                status = 0
            finally:
                os._exit(status)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
