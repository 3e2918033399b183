"""Caches of route origin authorisations beside the hub: stayrtr as Debian ships it, fed from a file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.hub import Hub, bracketed

PORTS = (8282, 8283)


@dataclass(frozen=True)
class Caches:
    """Two caches that say the same, so that routers may lose one."""

    hub: Hub
    file: Path

    @property
    def servers(self) -> list[dict[str, Any]]:
        """As the fleet's policy names them."""
        host = self.hub.wires.hub
        return [{"name": name, "host": host, "port": port} for name, port in zip("ab", PORTS, strict=True)]

    def serve(self, roas: Sequence[tuple[str, int, int]]) -> None:
        """Serve these from now on: prefix, greatest length, origin."""
        entries = [
            {"prefix": prefix, "maxLength": longest, "asn": f"AS{origin}", "ta": "lab"}
            for prefix, longest, origin in roas
        ]
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps({"metadata": {"counts": len(entries)}, "roas": entries}))
        fresh.replace(self.file)


@contextmanager
def open_caches(hub: Hub, directory: Path, roas: Sequence[tuple[str, int, int]]) -> Iterator[Caches]:
    """Both, serving."""
    caches = Caches(hub, directory / "roas.json")
    caches.serve(roas)
    running = []
    with (directory / "caches.log").open("ab") as log:
        for index, port in enumerate(PORTS):
            program = [
                *("stayrtr", "-cache", str(caches.file), "-checktime=false", "-refresh", "1", "-slurm", ""),
                *("-bind", f"{bracketed(hub.wires.hub)}:{port}"),
                *("-metrics.addr", f"{bracketed(hub.wires.hub)}:{9847 + index}"),
            ]
            running.append(subprocess.Popen([*hub.place.prefix, *program], stdout=log, stderr=log))
    try:
        yield caches
    finally:
        for process in running:
            process.terminate()
            process.wait(30)
