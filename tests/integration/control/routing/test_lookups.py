"""Numbers of tables, and look-ups in them."""

import pytest

from shared.protocol.reports import Validity
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet_reports import ORIGIN, ReportingNode, reporting, route
from tests.integration.control.routing.reading import TABLE, get


@pytest.fixture
async def node(on_each_database: Office) -> ReportingNode:
    return await reporting(on_each_database)


class TestNumbers:
    async def test_of_a_node(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        found = await get(node, f"nodes/{node.node_id}/routing")
        assert (found["prefixes4"], found["prefixes6"], found["routes"], found["filtered"]) == (2, 1, 5, 1)
        assert found["rpki"] == {"valid": 2, "invalid": 0, "not_found": 1, "unchecked": 0}
        assert {peer["protocol"]: peer for peer in found["peers"]}["rl_f"] == {
            "protocol": "rl_f",
            "received": 3,
            "accepted": 2,
            "best": 2,
            "filtered": 1,
            "reasons": {"rpki_invalid": 1},
        }
        assert found["lengths4"] == [{"value": 16, "count": 1}, {"value": 24, "count": 1}]

    async def test_of_the_fleet_count_each_prefix_once(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        other = await reporting(node.office, "edge2")
        await other.tell_whole({**TABLE, "10.5.0.0/16": [route(validity=Validity.INVALID)]})
        found = await get(node, "routing")
        assert (found["nodes"], found["prefixes4"], found["prefixes6"], found["origins"]) == (2, 3, 1, 2)
        assert found["rpki"] == {"valid": 2, "invalid": 1, "not_found": 1, "unchecked": 0}

    async def test_of_a_node_that_said_nothing(self, node: ReportingNode) -> None:
        found = await get(node, f"nodes/{node.node_id}/routing")
        assert (found["sight"], found["complete"], found["peers"]) == ("not_observed", False, [])


class TestLookUps:
    async def test_a_prefix_over_all_nodes(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        other = await reporting(node.office, "edge2")
        await other.tell_whole({"10.1.0.0/16": TABLE["10.1.0.0/16"]})
        found = await get(node, "routing/prefix", prefix="10.1.2.0/24")
        assert found["summary"]["nodes"] == 1
        assert found["missing"] == ["edge2"]
        assert [entry["prefix"] for entry in found["covering"]] == ["10.1.0.0/16"]
        above = await get(node, "routing/prefix", prefix="10.1.0.0/16")
        assert [entry["prefix"] for entry in above["covered"]["items"]] == ["10.1.2.0/24"]
        assert above["summary"] == {
            "prefix": "10.1.0.0/16",
            "nodes": 2,
            "origins": [ORIGIN],
            "validity": "valid",
        }

    @pytest.mark.parametrize(
        ("address", "expected"),
        [("10.1.2.3", "10.1.2.0/24"), ("10.1.3.3", "10.1.0.0/16"), ("fd42:9901::7", "fd42:9901::/48")],
    )
    async def test_the_longest_match(self, node: ReportingNode, address: str, expected: str) -> None:
        await node.tell_whole(TABLE)
        assert (await get(node, "routing/match", address=address))["prefix"] == expected
        assert await get(node, "routing/match", address="192.0.2.1") is None

    async def test_a_refused_route_with_its_reason(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        (item,) = (await get(node, f"nodes/{node.node_id}/routes", filtered=True))["items"]
        assert (item["prefix"], item["reason_name"], item["validity"]) == (
            "10.9.0.0/24",
            "rpki_invalid",
            "invalid",
        )

    async def test_origins(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        found = await get(node, "routing/origins")
        assert [(item["asn"], item["prefixes4"], item["prefixes6"]) for item in found["items"]] == [
            (ORIGIN, 1, 1),
            (4242429902, 1, 0),
        ]
        one = await get(node, f"routing/origins/{ORIGIN}")
        assert [entry["prefix"] for entry in one["prefixes"]["items"]] == ["10.1.0.0/16", "fd42:9901::/48"]
        assert [entry["prefix"] for entry in one["filtered"]] == ["10.9.0.0/24"]

    async def test_a_table_goes_on_where_it_stopped(self, node: ReportingNode) -> None:
        many = {f"10.{number}.0.0/16": [route(), route("rl_g", best=False)] for number in range(30)}
        await node.tell_whole(many)
        found, after = [], ""
        while True:
            page = await get(node, f"nodes/{node.node_id}/routes", limit=7, after=after)
            found += [(item["prefix"], item["protocol"]) for item in page["items"]]
            if page["next"] is None:
                break
            after = page["next"]
        assert found == [
            (prefix, protocol) for prefix in sorted(many, key=_third) for protocol in ("rl_f", "rl_g")
        ]

    async def test_prefixes_within_another(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        found = await get(node, "routing/within", prefix="10.0.0.0/8")
        assert [entry["prefix"] for entry in found["items"]] == ["10.1.0.0/16", "10.1.2.0/24"]
        page = await get(node, f"nodes/{node.node_id}/routes", within="10.1.2.0/23")
        assert [item["prefix"] for item in page["items"]] == ["10.1.2.0/24"]

    async def test_nonsense_is_said_to_be_it(self, node: ReportingNode) -> None:
        refused = await node.office.admin.get("/api/v1/routing/prefix", params={"prefix": "x"})
        assert (refused.status_code, refused.json()["code"]) == (422, "prefix_not_understood")


def _third(prefix: str) -> int:
    return int(prefix.split(".")[1])
