"""The scripted agent against a real server: what its users rely on."""

from __future__ import annotations

from uuid import uuid4

import pytest
from websockets.exceptions import ConnectionClosed

from shared.protocol.frames import Goodbye, Ping, ServerHello
from shared.testing.fake_agent import FakeAgent
from tests.integration.agent.control_double import ControlDouble


class TestFakeAgent:
    async def test_greets_and_plays_a_probe(self, control: ControlDouble) -> None:
        probe_id = uuid4()
        async with FakeAgent(control.url, "rlg_made-up") as agent:
            greeting = await agent.hello()
            line = await control.next_line()
            await agent.heartbeat()
            await agent.play(probe_id, [f"line {number}" for number in range(1, 121)])
            done = await line.expect("probe_done", probe_id)
        assert isinstance(greeting, ServerHello)
        assert control.attempts == ["Bearer rlg_made-up"]
        assert [each["seq"] for each in line.lines(probe_id)] == list(range(1, 121))
        assert done["last_seq"] == 120

    async def test_hands_out_each_frame_once_and_keeps_all(self, control: ControlDouble) -> None:
        async with FakeAgent(control.url, "rlg_made-up") as agent:
            await agent.hello()
            line = await control.next_line()
            await line.send(Ping(nonce="one"))
            await line.send({"type": "invented"})
            await line.send(Ping(nonce="two"))
            await line.send(Goodbye(retry_after_seconds=3))
            assert (await agent.expect(Ping, lambda ping: ping.nonce == "two")).nonce == "two"
            assert (await agent.expect(Goodbye)).retry_after_seconds == 3
        assert len(agent.all(Ping)) == 2
        assert {"type": "invented"} in agent.received

    async def test_repeats_a_batch_when_told_to(self, control: ControlDouble) -> None:
        probe_id = uuid4()
        async with FakeAgent(control.url, None) as agent:
            await agent.hello()
            line = await control.next_line()
            await agent.output(probe_id, "a", "b")
            await agent.output(probe_id, "a", "b", first_seq=1)
            assert await agent.output(probe_id, "c") == 3
            await line.expect("probe_output", count=3)
        assert [each["seq"] for each in line.lines(probe_id)] == [1, 2, 1, 2, 3]

    async def test_tells_the_close_code(self, control: ControlDouble) -> None:
        control.refuse_with = 4401
        async with FakeAgent(control.url, "bad") as agent:
            assert await agent.closed() == 4401
            assert agent.close_reason == "refused"
            with pytest.raises(AssertionError, match="4401"):
                await agent.expect(ServerHello)

    async def test_a_cut_leaves_without_a_close_frame(self, control: ControlDouble) -> None:
        async with FakeAgent(control.url, "rlg_made-up") as agent:
            await agent.hello()
            line = await control.next_line()
            await agent.cut()
            await line.socket.wait_closed()
            with pytest.raises(ConnectionClosed):
                await agent.heartbeat()
        assert line.socket.close_code == 1006
