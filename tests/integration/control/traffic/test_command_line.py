"""`routeloom traffic` and `routeloom routes` against a server."""

from routeloom.cli.traffic import scaled
from tests.integration.control.fleet.test_command_line import Shell
from tests.integration.control.fleet.test_command_line import shell as shell  # noqa: PLC0414 - a fixture
from tests.integration.control.fleet_reports import ORIGIN, reporting
from tests.integration.control.routing.reading import TABLE


async def test_traffic_of_the_fleet_and_of_a_node(shell: Shell) -> None:
    assert "Nothing was measured" in await shell.run("traffic")
    node = await reporting(shell.office)
    await node.count(wg_f=0)
    await node.count(wg_f=3_000_000)
    assert "3 MB" in await shell.run("traffic", "--range", "6h")
    assert "800 kbit/s" in await shell.run("traffic", "edge1")
    assert (await shell.json("traffic", "edge1"))["items"][0]["interface"] == "wg-f"
    assert "nowhere" in await shell.run("traffic", "nowhere", status=1)


async def test_routes_of_the_fleet_a_prefix_an_origin_and_a_node(shell: Shell) -> None:
    node = await reporting(shell.office)
    await node.tell_whole(TABLE)
    await node.tell({"10.1.2.0/24": []})
    assert "1 IPv4 and 1 IPv6 prefixes of 1 origins on 1 nodes" in await shell.run("routes")
    assert "10.1.0.0/16" in await shell.run("routes", "10.1.0.0/16")
    gone = await shell.run("routes", "10.1.2.0/24")
    assert "No node has 10.1.2.0/24" in gone
    assert "withdrawn" in gone
    assert "rpki_invalid" in await shell.run("routes", f"AS{ORIGIN}")
    assert "10.9.0.0/24" in await shell.run("routes", "--node", "edge1", "--only", "filtered")
    assert "10.9.0.0/24" in await shell.run("routes", "--node", "edge1", "--only", "invalid")
    assert (await shell.json("routes"))["filtered"] == 1


def test_numbers_have_units() -> None:
    units = ("B", "kB", "MB")
    assert [scaled(value, units) for value in (None, 0, 999, 1500, 2.5e9)] == [
        *("–", "0 B", "999 B", "1.5 kB", "2.5e+03 MB"),
    ]
