"""Real ping, traceroute and mtr against this host."""

from __future__ import annotations

from node_agent.settings import AgentSettings
from shared.protocol.frames import ProbeCancel
from tests.integration.agent.conftest import RunAgent, Toolbox
from tests.integration.agent.control_double import ControlDouble


class TestRealTools:
    async def test_ping_comes_line_by_line_with_a_summary(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        async with run_agent(settings):
            line = await control.next_line()
            probe_id, done = await line.run_probe("ping", "127.0.0.1", options={"count": 2})
        accepted = await line.expect("probe_accepted", probe_id)
        assert accepted["command"] == "ping -4 -n -O -c 2 -W 2 -- 127.0.0.1"
        assert accepted["address"] == "127.0.0.1"
        lines = line.lines(probe_id)
        assert [each["seq"] for each in lines] == list(range(1, done["last_seq"] + 1))
        assert lines[0]["text"].startswith("PING 127.0.0.1 (127.0.0.1)")
        assert (done["exit_code"], done["error"]) == (0, None)
        assert (done["summary"]["transmitted"], done["summary"]["received"]) == (2, 2)
        # The first line was not held back for the second, which ping sends a second later.
        batches = [frame for frame in line.frames if frame["type"] == "probe_output"]
        assert len(batches) >= 2

    async def test_traceroute_reaches_this_host(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        async with run_agent(settings):
            line = await control.next_line()
            _, done = await line.run_probe("traceroute", "127.0.0.1")
        assert (done["exit_code"], done["error"]) == (0, None)
        assert done["summary"]["reached"] is True
        assert [hop["address"] for hop in done["summary"]["hops"]] == ["127.0.0.1"]

    async def test_mtr_shows_hops_and_cycles_and_ends_with_a_table(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        async with run_agent(settings):
            line = await control.next_line()
            probe_id, done = await line.run_probe("mtr", "127.0.0.1", options={"count": 2})
        texts = [each["text"] for each in line.lines(probe_id)]
        assert texts[0].startswith("  1  127.0.0.1  ")
        assert texts[1].startswith("cycle 1: 1 of 1 hops answered, target in ")
        assert texts[2].startswith("cycle 2: 1 of 1 hops answered")
        assert texts[-2].split() == ["Hop", "Address", "Loss%", "Snt", "Last", "Avg", "Best", "Wrst", "StDev"]
        (hop,) = done["summary"]["hops"]
        assert (hop["address"], hop["sent"], hop["received"], hop["loss_percent"]) == ("127.0.0.1", 2, 2, 0.0)
        assert done["error"] is None

    async def test_a_target_that_is_silent_gives_lines_and_a_summary_before_the_deadline(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        # A network of its own, in which packets to the documentation range vanish.
        inside = 'ip link set lo up && ip route add 192.0.2.0/24 dev lo && exec /usr/bin/ping "$@"'
        toolbox.install(f"exec unshare -rn sh -c '{inside}' ping \"$@\"")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            asked = {"options": {"count": 20}, "limits": {"seconds": 4}}
            probe_id, done = await line.run_probe("ping", "192.0.2.77", **asked)
        assert (done["exit_code"], done["error"]) == (1, None)
        assert done["summary"]["transmitted"] >= 1
        assert (done["summary"]["received"], done["summary"]["loss_percent"]) == (0, 100)
        assert done["summary"]["complete"] is True
        assert any("no answer yet" in each["text"] for each in line.lines(probe_id))

    async def test_a_ping_that_is_cancelled_still_prints_its_statistics(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        async with run_agent(settings):
            line = await control.next_line()
            probe_id = await line.start_probe("ping", "127.0.0.1", options={"count": 50})
            await line.expect("probe_output", probe_id)
            await line.send(ProbeCancel(probe_id=probe_id))
            done = await line.expect("probe_done", probe_id)
        assert done["error"] == "cancelled"
        assert done["summary"]["complete"] is True
        assert done["summary"]["received"] >= 1
