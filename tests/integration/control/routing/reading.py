"""A table, and what the API says of it."""

from typing import Any

from shared.protocol.reports import Validity
from tests.integration.control.fleet_reports import ReportingNode, route

TABLE = {
    "10.1.0.0/16": [route(), route("rl_g", best=False, path="4242429902 4242429955")],
    "10.1.2.0/24": [route("rl_g", origin=4242429902, path="4242429902", hops=1)],
    "10.9.0.0/24": [route(best=False, filtered=True, reason=13, validity=Validity.INVALID)],
    "fd42:9901::/48": [route(validity=Validity.NOT_FOUND)],
}


async def get(node: ReportingNode, path: str, **parameters: Any) -> Any:
    answer = await node.office.admin.get(f"/api/v1/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def prefixes(node: ReportingNode) -> list[str]:
    items = (await get(node, f"nodes/{node.node_id}/routes", best=True))["items"]
    return [item["prefix"] for item in items]
