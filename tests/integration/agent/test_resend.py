"""Lines over a link that breaks: nothing is lost, repeated lines keep their numbers."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from node_agent.settings import AgentSettings
from shared.protocol.frames import ProbeStored
from shared.testing.waiting import wait_until
from tests.integration.agent.conftest import RunAgent, Toolbox
from tests.integration.agent.control_double import ControlDouble, Line

#: Prints three lines, waits for the test, prints two more.
IN_TWO_PARTS = "seq 1 3; while [ ! -e {go} ]; do sleep 0.02; done; seq 4 5"


def numbered(line: Line, probe_id: UUID) -> list[tuple[int, str]]:
    return [(each["seq"], each["text"]) for each in line.lines(probe_id)]


async def three_lines(line: Line) -> UUID:
    probe_id = await line.start_probe("ping", "127.0.0.1")
    await line.until(lambda _: len(line.lines(probe_id)) == 3)
    return probe_id


class TestResend:
    async def test_sends_again_what_was_not_acknowledged(
        self,
        control: ControlDouble,
        settings: AgentSettings,
        run_agent: RunAgent,
        toolbox: Toolbox,
        tmp_path: Path,
    ) -> None:
        toolbox.install(IN_TWO_PARTS.format(go=tmp_path / "go"))
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            first = await control.next_line()
            probe_id = await three_lines(first)
            await first.send(ProbeStored(probe_id=probe_id, seq=2))
            await first.send({"type": "ping", "nonce": "stored"})
            await first.expect("pong")
            first.socket.transport.abort()
            second = await control.next_line()
            (tmp_path / "go").touch()
            done = await second.expect("probe_done", probe_id)
        assert numbered(second, probe_id) == [(3, "3"), (4, "4"), (5, "5")]
        assert done["last_seq"] == 5
        assert next(f["type"] for f in second.frames if "probe_id" in f) == "probe_accepted"

    async def test_goes_on_while_the_server_is_away(
        self,
        control: ControlDouble,
        settings: AgentSettings,
        run_agent: RunAgent,
        toolbox: Toolbox,
        tmp_path: Path,
    ) -> None:
        ended = tmp_path / "ended"
        toolbox.install(IN_TWO_PARTS.format(go=tmp_path / "go") + f"; touch {ended}")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            first = await control.next_line()
            probe_id = await three_lines(first)
            await control.stop()
            (tmp_path / "go").touch()
            await wait_until(ended.exists)
            await control.start()
            second = await control.next_line()
            await second.expect("probe_done", probe_id)
        assert numbered(second, probe_id) == [(number, str(number)) for number in range(1, 6)]

    async def test_forgets_a_probe_whose_end_is_stored(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("seq 1 3")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            first = await control.next_line()
            stored, _ = await first.run_probe("ping", "127.0.0.1")
            kept, _ = await first.run_probe("ping", "127.0.0.1")
            await first.send(ProbeStored(probe_id=stored, seq=3, final=True))
            await first.send(ProbeStored(probe_id=kept, seq=3))
            await first.send({"type": "ping", "nonce": "stored"})
            await first.expect("pong")
            first.socket.transport.abort()
            second = await control.next_line()
            await second.expect("probe_done", kept)
        about = {frame["probe_id"] for frame in second.frames if "probe_id" in frame}
        assert about == {str(kept)}
        assert second.lines(kept) == []

    async def test_ends_a_probe_whose_output_can_no_longer_be_kept(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("yes 0123456789")
        small = settings.model_copy(update={"unsent_bytes": 1000})
        async with run_agent(small, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id, done = await line.run_probe("ping", "127.0.0.1")
        assert (done["error"], done["truncated"]) == ("output_limit", True)
        assert sum(len(text) for _, text in numbered(line, probe_id)[:-1]) <= 1010
