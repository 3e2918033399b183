"""What every step of the setup shares: saying what happens, running programs, and not doing things twice."""

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAMPS = ROOT / ".stamps"
VENV = ROOT / ".venv"


class SetupFailed(Exception):
    """One sentence for the person at the terminal."""


class ProgramFailed(Exception):
    """A program ended with an error; `output` is what it said."""

    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


def say(sentence: str) -> None:
    print(f"setup: {sentence}", flush=True)


def run(command: Sequence[str | Path], *, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> None:
    """Run quietly without standard input, and keep the output in .stamps/setup.log."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | dict(env or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    with (STAMPS / "setup.log").open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(str(part) for part in command)}\n{done.stdout}\n")
    if done.returncode != 0:
        raise ProgramFailed(done.stdout)


def unreachable(output: str) -> bool:
    """Whether a program's output says that the network, and nothing else, was in its way."""
    signs = (
        "NameResolutionError",
        "Failed to establish a new connection",
        "Temporary failure resolving",
        "Temporary failure in name resolution",
        "Network is unreachable",
        "ConnectTimeoutError",
        "Could not connect to",
        "ENOTFOUND",
        "EAI_AGAIN",
        "ENETUNREACH",
        "ECONNREFUSED",
        "ETIMEDOUT",
    )
    return any(sign in output for sign in signs)


def content_key(paths: Sequence[Path], *also: str) -> str:
    """Changes when the name or the content of any input changes."""
    digest = hashlib.sha256("\0".join(also).encode())
    for path in sorted(paths):
        digest.update(f"\0{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def stamped(stamp: Path, key: str) -> bool:
    return stamp.is_file() and stamp.read_text(encoding="ascii") == key


def set_stamp(stamp: Path, key: str) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(key, encoding="ascii")


@contextmanager
def alone() -> Iterator[None]:
    """Two setups of one checkout take turns."""
    STAMPS.mkdir(exist_ok=True)
    with (STAMPS / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another setup of this checkout")
            fcntl.flock(lock, fcntl.LOCK_EX)
        (STAMPS / "setup.log").write_text("", encoding="utf-8")
        yield


def complain(sentence: str) -> None:
    sys.stderr.write(f"setup: {sentence}\n")
