"""`routeloom health`, `flaps` and `incidents` against a server."""

from tests.integration.control.enrolment.office import Office
from tests.integration.control.flaps.test_pages import restless
from tests.integration.control.fleet.test_command_line import Shell
from tests.integration.control.fleet.test_command_line import shell as shell  # noqa: PLC0414


async def test_how_the_fleet_is(shell: Shell, lite: Office) -> None:
    assert "Nothing has a score." in await shell.run("flaps")
    assert "No incident is open." in await shell.run("incidents")
    await restless(lite)
    fleet = await shell.run("health")
    assert "r1" in fleet
    assert "session_down" in fleet
    node = await shell.run("health", "r1")
    assert "routing" in node
    assert "Hold timer expired" in node
    assert (await shell.json("health", "r1"))["sessions"]["down"] == 1
    assert "flapping" in await shell.run("flaps")
    assert "f" in await shell.run("flaps", "--node", "r1")
    why = await shell.run("flaps", "--node", "r1", "--session", "f")
    assert "4 charges" in why
    assert "missed_flap" in why
    assert "172.20.0.0/24" in await shell.run("flaps", "--node", "r1", "--prefix", "172.20.0.0/24")
    assert "session_flapping" in await shell.run("incidents", "--all")
    assert (await shell.json("incidents"))["open"] >= 1
    await shell.run("flaps", "--session", "f", status=2)
