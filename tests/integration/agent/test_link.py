"""The link: greeting, beating, coming back, and what a refusal does."""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus

import pytest

from node_agent import state
from node_agent.collect.collection import Collection
from node_agent.collect.host import HostSample
from node_agent.connection.link import Dialling
from node_agent.errors import AgentAlreadyRunning, NotEnrolled
from node_agent.run import run
from node_agent.settings import AgentSettings
from shared.protocol.frames import AgentHello, Goodbye, Heartbeat, Ping
from shared.testing.waiting import wait_until
from tests.integration.agent.conftest import RunAgent
from tests.integration.agent.control_double import ControlDouble


class TestGreeting:
    async def test_shows_the_token_and_says_hello_first(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        async with run_agent(settings):
            line = await control.next_line()
        assert control.attempts == ["Bearer rlg_made-up"]
        hello = AgentHello.model_validate(line.frames[0])
        assert set(hello.capabilities.tools) == {"ping", "traceroute", "mtr"}
        assert hello.boot_id

    async def test_beats_as_often_as_the_server_says(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        control.heartbeat_seconds = 0.05
        async with run_agent(settings):
            line = await control.next_line()
            frame = Heartbeat.model_validate(await line.expect("heartbeat", count=3))
        assert frame.memory_total_bytes > 0
        assert frame.uptime_seconds > 0

    async def test_a_collector_that_hangs_does_not_hold_up_the_heartbeat(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        control.heartbeat_seconds = 0.05
        began = []

        def hang() -> HostSample:
            began.append(True)
            time.sleep(20)
            return HostSample()

        async with run_agent(settings, collection=Collection(hang)):
            line = await control.next_line()
            await line.expect("heartbeat", count=5)
        assert began

    async def test_ignores_and_survives_what_it_does_not_know(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        async with run_agent(settings):
            line = await control.next_line()
            await line.send({"type": "invented", "x": 1})
            await line.send({"type": "probe_start", "tool": "rm -rf"})
            await line.send({"no": "type"})
            await line.socket.send("not JSON")
            await line.socket.send("[1]")
            await line.socket.send("[" * 20000)
            await line.send({"type": "ping", "nonce": "still here", "later": "field"})
            assert (await line.expect("pong"))["nonce"] == "still here"
        assert len(control.lines) == 1


class TestComingBack:
    async def test_reconnects_when_the_server_dies_and_returns(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        async with run_agent(settings):
            line = await control.next_line()
            line.socket.transport.abort()
            second = await control.next_line()
            await control.stop()
            assert second.closed
            await control.start()
            third = await control.next_line()
            await third.send(Ping(nonce="n"))
            await third.expect("pong")

    async def test_comes_back_after_a_goodbye(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        drawn: list[tuple[float, float]] = []

        def dice(low: float, high: float) -> float:
            drawn.append((low, high))
            return 0.0

        async with run_agent(settings, dialling=Dialling(uniform=dice)):
            line = await control.next_line()
            await line.send(Goodbye(retry_after_seconds=4))
            await line.socket.close(1001)
            await control.next_line()
        assert drawn[0] == (4, 5)

    async def test_keeps_trying_while_a_balancer_answers_503(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        control.answer_with = HTTPStatus.SERVICE_UNAVAILABLE
        async with run_agent(settings):
            await control.until_attempts(4)
            control.answer_with = None
            await control.next_line()

    @pytest.mark.parametrize("code", [4401, 4403])
    async def test_stays_away_for_long_when_refused_until_the_token_changes(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, code: int
    ) -> None:
        control.refuse_with = code
        drawn: list[tuple[float, float]] = []

        def dice(low: float, high: float) -> float:
            drawn.append((low, high))
            return low

        async with run_agent(settings, dialling=Dialling(uniform=dice, watch_seconds=0.02)):
            await wait_until(lambda: bool(drawn))
            assert drawn == [(3600.0, 4500.0)]
            assert len(control.attempts) == 1
            control.refuse_with = None
            state.write_private(settings.token_path, "rlg_new\n")
            await control.next_line()
        assert control.attempts == ["Bearer rlg_made-up", "Bearer rlg_new"]

    async def test_gives_way_to_another_agent_of_its_node(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        drawn: list[tuple[float, float]] = []

        def dice(low: float, high: float) -> float:
            drawn.append((low, high))
            return low

        async with run_agent(settings, dialling=Dialling(uniform=dice)):
            line = await control.next_line()
            await line.socket.close(4409, "replaced")
            await wait_until(lambda: bool(drawn))
        assert drawn == [(120.0, 240.0)]
        assert len(control.attempts) == 1

    async def test_notices_a_server_that_hangs(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        dialling = Dialling(uniform=lambda _low, _high: 0.0, ping_seconds=0.2)
        async with run_agent(settings, dialling=dialling):
            line = await control.next_line()
            line.socket.transport.pause_reading()
            await control.next_line()


class TestOneAgent:
    async def test_refuses_a_second_agent_on_the_same_state(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        async with run_agent(settings):
            await control.next_line()
            with pytest.raises(AgentAlreadyRunning):
                await run(settings)
        assert state.lock_holder(settings.state_directory) is None

    async def test_needs_to_be_enrolled(self, settings: AgentSettings) -> None:
        settings.token_path.unlink()
        with pytest.raises(NotEnrolled):
            await run(settings)

    async def test_ends_at_once_when_stopped_while_the_server_is_away(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent
    ) -> None:
        await control.stop()
        async with run_agent(settings) as task:
            await wait_until(lambda: state.lock_holder(settings.state_directory) is not None)
            task.cancel()
            async with asyncio.timeout(10):
                await asyncio.wait({task})
        await control.start()
