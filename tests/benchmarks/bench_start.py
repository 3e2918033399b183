"""A second start of Lite against importing the same libraries alone.

    python -m tests.benchmarks.bench_start

Goal: ready within three seconds. What a start cannot do without is importing the libraries that
it uses, so that is the peer: an interpreter that imports every module of third parties which Lite has loaded
at its first answer, and ends. Times are from the command to the printed address, to the first answer, which
is the page for signing in, and to the dashboard of somebody who is signed in, whose features come after the
address. The processor time of the process up to the first answer depends less on what else the machine does.
The best of five, on a state that an earlier start has made; the agent of that state is adopted.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx2

from node_agent.supervise import stop
from shared.testing.servers.ports import free_loopback_port

GOAL_SECONDS = 3.0
ROUNDS = 5
_OURS = {"auth_server", "control_server", "node_agent", "registry_server", "routeloom", "shared"}
_LOADED = """
import sys
known = set(sys.modules)
import routeloom.cli.main, routeloom.lite.runner
print("\\n".join(name for name in sys.modules if name not in known))
"""
#: What a compiled library registers for itself cannot be imported by its name.
_IMPORT = """
import contextlib, importlib
for name in {names!r}:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
"""
_ADDRESS = re.compile(r"Portal +(\S+)")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, order=True)
class Start:
    """How long one start took, in seconds."""

    answered: float
    printed: float
    processor: float
    dashboard: float


def start(home: Path, port: int) -> Start:
    began = time.monotonic()
    command = [sys.executable, "-m", "routeloom", "lite", "--port", str(port), "--home", str(home)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if found := _ADDRESS.search(line):
                break
        else:
            raise SystemExit("".join(said))
        printed = time.monotonic() - began
        page = httpx2.get(
            f"{found[1]}/",
            headers={"Accept": "text/html"},
            follow_redirects=True,
            trust_env=False,
            timeout=30,
        )
        answered, processor = time.monotonic() - began, processor_seconds(process.pid)
        if not page.is_success or 'action="/sign-in' not in page.text:
            raise SystemExit(f"no page for signing in but {page.status_code}:\n{page.text}")
        token = (home / "admin-token").read_text(encoding="ascii").strip()
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/html"}
        httpx2.get(f"{found[1]}/", headers=headers, trust_env=False, timeout=30).raise_for_status()
        return Start(answered, printed, processor, time.monotonic() - began)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def libraries() -> list[str]:
    """Every module of others that Lite has loaded once it is imported, in that order."""
    listed = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if name.partition(".")[0] not in _OURS]


def import_alone(names: list[str]) -> tuple[float, float]:
    """Time and processor time of an interpreter that imports them and ends."""
    program = _IMPORT.format(names=names)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-c", program], check=True)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tell(first: Start, starts: list[Start]) -> None:
    print(f"first start: answered after {first.answered:.2f} s, processor {first.processor:.2f} s")
    for each in starts:
        told = f"answered after {each.answered:.2f} s, printed after {each.printed:.2f} s"
        print(
            f"second start: {told}, processor {each.processor:.2f} s; dashboard after {each.dashboard:.2f} s"
        )


def main() -> int:
    names = libraries()
    with tempfile.TemporaryDirectory() as directory:
        home, port = Path(directory) / "home", free_loopback_port()
        first = start(home, port)
        try:
            starts = [start(home, port) for _ in range(ROUNDS)]
        finally:
            stop(home / "agent")
    alone = [import_alone(names) for _ in range(ROUNDS)]
    tell(first, starts)
    best, took, processor = min(starts), min(each[0] for each in alone), min(each[1] for each in alone)
    least = min(each.processor for each in starts)
    print(f"{len(names)} modules of others alone: {took:.2f} s, processor {processor:.2f} s")
    ratios = f"{best.answered / took:.2f} in time, {least / processor:.2f} in processor time"
    print(f"ratio of the best: {ratios}")
    print(f"goal {GOAL_SECONDS:.1f} s: {'met' if best.answered <= GOAL_SECONDS else 'missed'}")
    return 0 if best.answered <= GOAL_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
