"""What the API says of traffic."""

from datetime import timedelta
from typing import Any

from tests.integration.control.fleet_reports import ReportingNode

HALF_MINUTE = timedelta(seconds=30)


async def series(node: ReportingNode, wanted: str, **more: str) -> dict[str, Any]:
    path = f"/api/v1/nodes/{node.node_id}/traffic"
    answer = await node.office.admin.get(path, params={"range": wanted, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def received(node: ReportingNode, wanted: str = "6h", **more: str) -> int | None:
    total: int | None = (await series(node, wanted, **more))["series"][0]["total"]["received_bytes"]
    return total


async def run(node: ReportingNode, *values: int) -> None:
    """One sample each half minute."""
    for value in values:
        await node.count(wg_f=value)
        node.office.clock.turn(HALF_MINUTE)
