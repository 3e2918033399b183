"""The fixed table of tools: what may run, and exactly with which arguments.

Arguments are built here from checked numbers and one literal address. No text of a caller reaches a
tool, and no shell is involved.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.protocol.probes import ProbeOptions, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.kernel.targets import Address

#: Where tools are looked for; the environment of the agent has no say in it.
TOOL_DIRECTORIES = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")

#: Between the tool's own end and the kill.
GRACE_SECONDS = 2.0
_PING_COUNT = 4
_MTR_CYCLES = 10
_MAX_HOPS = 30
#: A reply that is later than this is lost.
_REPLY_SECONDS = 2
#: Queries a hop, and how many are in flight: more run into the routers' ICMP rate limits, and every hop
#: after the first then shows false losses.
_QUERIES = 3
_IN_FLIGHT = 6


@dataclass(frozen=True, slots=True)
class Command:
    """One tool with its arguments, ready to run."""

    argv: tuple[str, ...]
    #: Asks the tool to end; ping prints its statistics when it is interrupted.
    stop_signal: signal.Signals = signal.SIGTERM
    #: Exit codes that are a result and not a failure of the tool.
    good_codes: frozenset[int] = frozenset({0})

    def __str__(self) -> str:
        """The command line for people to read, with the tool's bare name."""
        return " ".join((os.path.basename(self.argv[0]), *self.argv[1:]))  # noqa: PTH119 - text, no file


def find_executable(tool: str, directories: Sequence[str] = TOOL_DIRECTORIES) -> str | None:
    """The tool's path, or None where this host lacks it."""
    for directory in directories:
        path = os.path.join(directory, tool)  # noqa: PTH118 - argv wants text
        if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113
            return path
    return None


def build(executable: str, tool: Tool, address: Address, options: ProbeOptions, seconds: float) -> Command:
    """The command that ends by itself `GRACE_SECONDS` before `seconds` are over, where the tool can."""
    return _BUILDERS[tool](executable, address, options, max(1.0, seconds - GRACE_SECONDS))


def _ping(executable: str, address: Address, options: ProbeOptions, seconds: float) -> Command:
    count = options.count or _PING_COUNT
    argv = [executable, f"-{address.version}", "-n", "-O", "-c", str(count), "-W", str(_REPLY_SECONDS)]
    if count - 1 + _REPLY_SECONDS > seconds:
        # Only then: with -w, ping goes on until it has `count` replies, not until it has sent `count`.
        argv += ["-w", str(int(seconds))]
    # 1 is "no reply came", which is what the person wanted to know.
    return Command((*argv, "--", str(address)), stop_signal=signal.SIGINT, good_codes=frozenset({0, 1}))


def _traceroute(executable: str, address: Address, options: ProbeOptions, seconds: float) -> Command:
    hops = options.max_hops or _MAX_HOPS
    wait = min(float(_REPLY_SECONDS), max(0.2, seconds * _IN_FLIGHT / (hops * _QUERIES)))
    argv = [executable, f"-{address.version}", "-n", "-q", str(_QUERIES), "-N", str(_IN_FLIGHT)]
    argv += ["-m", str(hops), "-w", f"{wait:.1f}"]
    return Command((*argv, "--", str(address)))


def _mtr(executable: str, address: Address, options: ProbeOptions, seconds: float) -> Command:
    cycles = min(options.count or _MTR_CYCLES, max(1, int(seconds) - 2))
    argv = [executable, f"-{address.version}", "--raw", "-n", "-c", str(cycles), "-i", "1", "-G", "1"]
    argv += ["-m", str(options.max_hops or _MAX_HOPS)]
    return Command((*argv, "--", str(address)))


_BUILDERS: dict[Tool, Callable[[str, Address, ProbeOptions, float], Command]] = {
    Tool.PING: _ping,
    Tool.TRACEROUTE: _traceroute,
    Tool.MTR: _mtr,
}
