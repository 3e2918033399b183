"""What the agent refuses to aim at, whatever the server asked for."""

from __future__ import annotations

import socket
from collections.abc import Callable, Coroutine, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from node_agent.probes.resolving import Chooser
from node_agent.settings import AgentSettings
from shared.kernel.targets import CLEARNET, DN42, Address
from tests.integration.agent.conftest import RunAgent, Toolbox
from tests.integration.agent.control_double import ControlDouble


def answering(*texts: str) -> Chooser:
    """A resolver that gives these addresses for every name."""

    async def resolve(_name: str) -> Sequence[Address]:
        return [ip_address(text) for text in texts]

    return Chooser(resolve=resolve, routable=lambda _: True)


Probe = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@pytest.fixture
def probe(
    control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox, tmp_path: Path
) -> Probe:
    """Run one probe and answer its end, with the address that the tool was given."""
    toolbox.install(f'touch {tmp_path}/ran; echo "$*"')

    async def run(target: str, chooser: Chooser | None = None, **fields: Any) -> dict[str, Any]:
        around = {"chooser": chooser or answering()} | (
            {"own_addresses": fields.pop("own_addresses")} if "own_addresses" in fields else {}
        )
        async with run_agent(settings, surroundings=toolbox.surroundings(**around)):
            line = await control.next_line()
            probe_id, done = await line.run_probe("ping", target, **{"allow": (), **fields})
        given = [each["text"] for each in line.lines(probe_id) if each["stream"] == "stdout"]
        notes = [each["text"] for each in line.lines(probe_id) if each["stream"] == "note"]
        return {**done, "given": given[0].split()[-1] if given else None, "notes": notes}

    return run


class TestTargets:
    @pytest.mark.parametrize(
        "target", ["-f", "--help", "a;b", "$(x)", "a\nb", "a\x00b", "", "999.1.1.1", "0x7f.1"]
    )
    async def test_refuses_what_is_no_target(self, probe: Probe, target: str, tmp_path: Path) -> None:
        done = await probe(target)
        assert done["error"] == "target_refused"
        assert done["detail"]
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize(
        "target", ["127.0.0.1", "::1", "169.254.169.254", "fe80::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]
    )
    async def test_refuses_by_default(self, probe: Probe, target: str, tmp_path: Path) -> None:
        assert (await probe(target))["error"] == "target_refused"
        assert not (tmp_path / "ran").exists()

    async def test_refuses_a_name_that_turns_private_at_the_node(self, probe: Probe, tmp_path: Path) -> None:
        deny = [str(network) for network in CLEARNET.deny]
        done = await probe("rebinding.example", answering("10.1.2.3"), targets={"deny": deny})
        assert done["error"] == "target_refused"
        assert "10.1.2.3" in done["detail"]
        assert not (tmp_path / "ran").exists()

    async def test_refuses_a_name_that_turns_into_this_host(self, probe: Probe) -> None:
        assert (await probe("rebinding.example", answering("127.0.0.1", "::1")))["error"] == "target_refused"

    async def test_decides_for_each_family_of_a_name(self, probe: Probe) -> None:
        done = await probe("mixed.example", answering("fe80::1", "198.51.100.7"))
        assert (done["error"], done["given"]) == (None, "198.51.100.7")
        assert done["notes"] == ["mixed.example: fe80::1 is a link-local address."]

    async def test_gives_the_tool_the_address_and_not_the_name(self, probe: Probe) -> None:
        done = await probe("both.example", answering("198.51.100.7", "2001:db8::7"))
        assert done["given"] == "2001:db8::7"
        done = await probe("both.example", answering("198.51.100.7", "2001:db8::7"), options={"family": 4})
        assert done["given"] == "198.51.100.7"

    @pytest.mark.parametrize(("policy", "error"), [(DN42, None), (CLEARNET, "target_refused")])
    async def test_policy_of_the_fleet_decides_on_private_ranges(
        self, probe: Probe, policy: Any, error: str | None
    ) -> None:
        done = await probe("172.20.0.1", targets={"deny": [str(network) for network in policy.deny]})
        assert done["error"] == error

    async def test_refuses_the_nodes_own_addresses_unless_allowed(self, probe: Probe) -> None:
        own = {"own_addresses": lambda: frozenset({ip_address("172.20.0.1")})}
        assert (await probe("172.20.0.1", **own))["error"] == "target_refused"
        assert (await probe("172.20.0.1", **own, allow=("172.20.0.0/14",)))["error"] is None

    async def test_tells_a_name_without_an_address(
        self, probe: Probe, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def lookup(*_: object, **__: object) -> None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        done = await probe("none.invalid", Chooser())
        assert done["error"] == "target_unresolved"
        assert "none.invalid" in done["detail"]

    async def test_tells_a_family_that_the_target_lacks(self, probe: Probe) -> None:
        done = await probe("four.example", answering("198.51.100.7"), options={"family": 6})
        assert done["error"] == "target_unresolved"
        assert (await probe("198.51.100.7", options={"family": 6}))["error"] == "target_refused"
