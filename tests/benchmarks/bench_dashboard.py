"""The dashboard and a node's page with 100 and 1,000 nodes, as the server makes them.

    python -m tests.benchmarks.bench_dashboard

Goal: the dashboard under 300 ms at the server. Every node has reported sessions, counters and routes; the
database is SQLite and there is no tier, so that nothing is remembered between two requests. A request goes
through the whole application in this process: reading, deciding, drawing. The median of twenty counts, and
the statements that one request makes are counted beside it.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from shared.web.logs import LogFormat, configure_logs
from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import open_office
from tests.integration.control.fleet.test_statements import counted
from tests.integration.control.portal.large_fleet import FIRST, grow, report_everything

if TYPE_CHECKING:
    from tests.integration.control.enrolment.office import Office

SIZES = (100, 1000)
ROUNDS = 20
GOAL_SECONDS = 0.3
PAGES = {
    "dashboard": "/",
    "nodes": "/nodes",
    "node overview": f"/nodes/{FIRST}",
    "node traffic": f"/nodes/{FIRST}/traffic",
}


async def measure(office: Office, path: str, headers: dict[str, str]) -> tuple[float, int, int]:
    """Median seconds, statements and kilobytes of a page."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = await office.outside.get(path, headers=headers)
        took.append(time.perf_counter() - began)
        answer.raise_for_status()
    with counted() as found:
        await office.outside.get(path, headers=headers)
    return statistics.median(took), len(found), len(answer.content) // 1024


async def main() -> int:
    configure_logs(level="ERROR", form=LogFormat.CONSOLE)
    missed = False
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        async with open_office(f"sqlite:///{place / 'control.db'}", place) as office:
            await report_everything(office)
            headers = {**await signed_in(office), "Accept": "text/html"}
            present = 1
            for size in SIZES:
                await grow(office, present, size)
                present = size
                for name, path in PAGES.items():
                    seconds, asked, size_in_kib = await measure(office, path, headers)
                    missed |= name == "dashboard" and seconds > GOAL_SECONDS
                    figures = f"{seconds * 1000:7.1f} ms  {asked:3d} statements  {size_in_kib:5d} KiB"
                    print(f"{size:5d} nodes  {name:14s} {figures}")
    print(f"goal {GOAL_SECONDS * 1000:.0f} ms for the dashboard: {'missed' if missed else 'met'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
