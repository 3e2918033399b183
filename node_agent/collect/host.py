"""The host's own numbers and addresses, from /proc."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from shared.kernel.targets import Address

_PROC = Path("/proc")
_LOCAL_V4 = re.compile(r"\|-- ([0-9.]+)\n\s+/32 host LOCAL", re.ASCII)


@dataclass(frozen=True, slots=True)
class HostSample:
    """One look at the host."""

    uptime_seconds: float = 0.0
    load: tuple[float, float, float] = (0.0, 0.0, 0.0)
    memory_used_bytes: int = 0
    memory_total_bytes: int = 0


def sample_host(proc: Path = _PROC) -> HostSample:
    """The host's numbers now; what cannot be read counts as 0."""
    memory = _memory(_read(proc / "meminfo"))
    total = memory.get("MemTotal", 0)
    load = (0.0, 0.0, 0.0)
    with contextlib.suppress(OSError):
        load = os.getloadavg()
    return HostSample(
        uptime_seconds=_first_number(_read(proc / "uptime")),
        load=load,
        memory_used_bytes=max(0, total - memory.get("MemAvailable", total)),
        memory_total_bytes=total,
    )


def boot_id(proc: Path = _PROC) -> str:
    """Changes when the host restarts."""
    return _read(proc / "sys/kernel/random/boot_id").strip()[:64]


def own_addresses(proc: Path = _PROC) -> frozenset[Address]:
    """Every address that the kernel takes for its own."""
    # The trie is printed twice, for the main and the local table; the set takes care of that.
    found: set[Address] = {IPv4Address(text) for text in _LOCAL_V4.findall(_read(proc / "net/fib_trie"))}
    for line in _read(proc / "net/if_inet6").splitlines():
        with contextlib.suppress(ValueError):
            found.add(IPv6Address(int(line.split(maxsplit=1)[0], 16)))
    return frozenset(found)


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _first_number(text: str) -> float:
    with contextlib.suppress(ValueError, IndexError):
        return max(0.0, float(text.split(maxsplit=1)[0]))
    return 0.0


def _memory(text: str) -> dict[str, int]:
    fields: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        with contextlib.suppress(ValueError, IndexError):
            fields[name] = int(rest.split()[0]) * 1024
    return fields
