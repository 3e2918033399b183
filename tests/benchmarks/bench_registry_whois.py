"""whois and `!` queries on the same objects: ours, and IRRd on PostgreSQL and Redis.

Four connections ask in turn, each its next question when the last is answered; a client process a connection,
so that no client is the limit. bgpq4 makes lists of an AS and of a large set, end to end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path

from registry_server.samples.schemas import SampleFile, SamplePlan
from registry_server.samples.service import generate
from tests.benchmarks.canned_registry import answer_of, canned
from tests.integration.registry.upstream import Upstream
from tests.oracles.irrd import irrd_server
from tests.oracles.questions import files

PLAN = SamplePlan(objects=20_000, commits=2, seed=3)
SECONDS = 1.5
ROUNDS = 3
CONNECTIONS = 4
BGPQ4_RUNS = 15
_PATIENCE_SECONDS = 120
LARGE = "AS-EVERYBODY"


@contextmanager
def our_server(directory: Path, large: bytes) -> Iterator[tuple[int, int]]:
    """Our registry as a process of its own: the port of whois, and the process."""
    sample = directory / "sample"
    generate(PLAN, sample)
    Upstream(sample).commit({f"data/as-set/{LARGE}": large})
    port = _free_port()
    environment = {
        **os.environ,
        "ROUTELOOM_REGISTRY_DATABASE__URL": f"sqlite:///{directory}/registry.db",
        "ROUTELOOM_REGISTRY_STATE_DIRECTORY": str(directory),
        "ROUTELOOM_REGISTRY_MIRROR__URL": str(sample),
        "ROUTELOOM_REGISTRY_WEB__PORT": str(_free_port()),
        "ROUTELOOM_REGISTRY_WEB__LOG_LEVEL": "ERROR",
        "ROUTELOOM_REGISTRY_WHOIS__PORT": str(port),
        "REDIS_URL": "memory://bench",
    }
    command = [sys.executable, "-m", "registry_server"]
    subprocess.run([*command, "migrate"], env=environment, check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([*command, "serve"], env=environment)
    try:
        _wait_for(port)
        yield port, server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=_PATIENCE_SECONDS)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"!iAS-EGG,1\n")
                if client.recv(100).startswith(b"A"):
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise TimeoutError("our server does not answer")


def _ask_for_a_while(
    port: int, questions: Sequence[bytes], ready: Barrier, counts: multiprocessing.Queue[int]
) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(b"!!\n")
        ready.wait()
        end, count = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            for question in questions:
                client.sendall(question)
                _read_answer(client)
            count += len(questions)
        counts.put(count)


def _read_answer(client: socket.socket) -> None:
    answer = client.recv(65536)
    if answer[:1] != b"A":
        return
    head, _, body = answer.partition(b"\n")
    missing = int(head[1:]) + 2 - len(body)
    while missing > 0:
        missing -= len(client.recv(65536))


def queries_a_second(port: int, questions: Sequence[bytes]) -> float:
    ready = multiprocessing.Barrier(CONNECTIONS)
    counts: multiprocessing.Queue[int] = multiprocessing.Queue()
    clients = [
        multiprocessing.Process(
            target=_ask_for_a_while, args=(port, questions[number::CONNECTIONS], ready, counts)
        )
        for number in range(CONNECTIONS)
    ]
    for client in clients:
        client.start()
    total = sum(counts.get(timeout=_PATIENCE_SECONDS) for _ in clients)
    for client in clients:
        client.join()
    return total / SECONDS


def bgpq4_milliseconds(port: int, *arguments: str, runs: int = BGPQ4_RUNS) -> float:
    command = ["bgpq4", "-h", f"127.0.0.1:{port}", "-p", "-4", *arguments]
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def one_shot_a_second(port: int, questions: Sequence[bytes]) -> float:
    """A connection a question, one after the other, as whois does it."""
    began, count = time.monotonic(), 0
    while time.monotonic() - began < SECONDS:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(questions[count % len(questions)])
            while client.recv(65536):
                pass
        count += 1
    return count / (time.monotonic() - began)


def memory_of(pid: int) -> float:
    """Megabytes of a process and its children, each shared page once (PSS)."""
    listed = subprocess.run(
        ["pgrep", "-P", str(pid)], check=False, capture_output=True, text=True
    ).stdout.split()
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    own = int(next(line for line in text.splitlines() if line.startswith("Pss:")).split()[1]) / 1024
    return own + sum(memory_of(int(child)) for child in listed)


class Asked:
    """What is asked of both, about the same objects."""

    def __init__(self, held: Sequence[SampleFile]) -> None:
        self.numbers = [file.path.decode().split("/")[2] for file in held if file.object_class == "aut-num"]
        sets = [file.path.decode().split("/")[2] for file in held if file.object_class == "as-set"]
        self.kinds = {
            "!g !6": [f"!{kind}{key}\n".encode() for key in self.numbers[:400] for kind in "g6"],
            "!i,1": [f"!i{key},1\n".encode() for key in sets[:400]],
            "!a4": [f"!a4{key}\n".encode() for key in sets[:400]],
            "!m": [f"!maut-num,{key}\n".encode() for key in self.numbers[:400]],
        }

    def rates(self, port: int) -> dict[str, float]:
        """Per second, the more the better."""
        found = {f"{kind} q/s": queries_a_second(port, asked) for kind, asked in self.kinds.items()}
        return {**found, "one-shot conn/s": one_shot_a_second(port, self.kinds["!g !6"])}

    def times(self, port: int) -> dict[str, float]:
        """Milliseconds of bgpq4 from its start to its end, the less the better."""
        return {
            "bgpq4 one AS ms": bgpq4_milliseconds(port, self.numbers[0]),
            "bgpq4 large set ms": bgpq4_milliseconds(port, LARGE),
            # Without the server's help: the members, and then a question for each.
            "bgpq4 by members ms": bgpq4_milliseconds(port, "-L", "2", LARGE, runs=2),
        }


def best(rounds: Sequence[tuple[dict[str, float], dict[str, float]]]) -> dict[str, float]:
    """Of each kind the best round: what disturbs a round is not the server's."""
    rates = {kind: max(each[0][kind] for each in rounds) for kind in rounds[0][0]}
    return {**rates, **{kind: min(each[1][kind] for each in rounds) for kind in rounds[0][1]}}


def _everybody(held: Sequence[SampleFile]) -> bytes:
    """A set of every AS number that there is."""
    numbers = [file.path.decode().split("/")[2] for file in held if file.object_class == "aut-num"]
    lines = [f"as-set:             {LARGE}", *(f"members:            {number}" for number in numbers)]
    return ("\n".join([*lines, "mnt-by:             DN42-MNT", "source:             DN42"]) + "\n").encode()


def main() -> None:
    held = files(PLAN)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)  # PostgreSQL runs as somebody else
        ours_at, theirs_at = directory / "ours", directory / "irrd"
        for each in (ours_at, theirs_at):
            each.mkdir()
        large = _everybody(held)
        loaded = [*(file.raw.strip(b"\n") for file in held), large.strip()]
        with our_server(ours_at, large) as (port, pid), irrd_server(theirs_at, loaded) as irrd:
            with canned(answer_of(port, f"!a4{LARGE}\n".encode())) as known:
                asked, ports = Asked(held), (port, irrd.port)
                # In turn, so that whatever else the machine does falls on both.
                rounds = [[(asked.rates(each), asked.times(each)) for each in ports] for _ in range(ROUNDS)]
                alone = min(bgpq4_milliseconds(known, LARGE) for _ in range(ROUNDS))
            ours, theirs = (best([each[side] for each in rounds]) for side in (0, 1))
            ours["memory MB"], theirs["memory MB"] = memory_of(pid), memory_of(irrd.pid)
    print(f"{'':20} {'ours':>12} {'IRRd':>12} {'ratio':>8}")
    for kind, value in ours.items():
        print(f"{kind:20} {value:12.1f} {theirs[kind]:12.1f} {value / theirs[kind]:8.2f}")
    kind = "bgpq4 large set ms"
    print(f"{'of it bgpq4 alone':20} {alone:12.1f} {alone:12.1f}")
    rest, their_rest = max(ours[kind] - alone, 0), theirs[kind] - alone
    print(f"{'the server alone':20} {rest:12.1f} {their_rest:12.1f} {rest / their_rest:8.2f}")
    print("goal: five times the queries a second, three tenths of bgpq4's time on a large set")


if __name__ == "__main__":
    main()
