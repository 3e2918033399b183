"""What becomes of probes and nodes when agents come, go, and come twice."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from control_server.agents.repository import AgentRepository
from shared.protocol.frames import CloseCode, Heartbeat, ProbeStart, ProbeStored
from shared.protocol.probes import ProbeReason
from shared.testing.fake_agent import SOCKET_PATH, FakeAgent
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import NODES, Stage


async def node(stage: Stage, node_id: str = "alpha") -> dict[str, Any]:
    found: dict[str, Any] = (await stage.request("GET", f"/api/v1/nodes/{node_id}")).json()
    return found


def is_connected(stage: Stage) -> bool:
    return stage.runs.link.connections.find("alpha") is not None


class TestReconnecting:
    async def test_a9_a_new_socket_right_after_a_cut_replaces_the_old(self, any_stage: Stage) -> None:
        async with any_stage.agent() as old:
            old.stop_reading()  # as a network that was cut, with the server still unaware
            async with any_stage.agent() as new:
                assert new.close_code is None
                (only,) = any_stage.runs.link.connections.all()
                assert only.fencing_token == 2
                old.resume_reading()
                assert await old.closed() == CloseCode.REPLACED
                await new.heartbeat()
                assert (await node(any_stage))["liveness"] == "online"

    async def test_c1_the_late_end_of_an_old_socket_changes_nothing(self, any_stage: Stage) -> None:
        async with any_stage.agent() as first, any_stage.agent() as second:
            probe_id = await any_stage.create("alpha")
            await any_stage.started(second)
            await first.closed()
            await any_stage.watch.run_once()
            any_stage.clock.turn(21)
            await any_stage.watch.run_once()
            assert (await node(any_stage))["liveness"] == "online"
            assert (await any_stage.read(probe_id))["state"] == "running"
            await second.cut()
            await wait_until(lambda: not is_connected(any_stage))
            await any_stage.watch.run_once()
            assert (await any_stage.read(probe_id))["state"] == "running"
            any_stage.clock.turn(20)
            await any_stage.watch.run_once()
            read = await any_stage.finished(probe_id)
        assert (read["state"], read["reason"]) == ("failed", "agent_lost")

    async def test_a_probe_goes_on_over_a_new_link_without_loss_or_repeat(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await agent.output(probe_id, "one", "two")
            await agent.expect(ProbeStored)
            await agent.cut()
        await wait_until(lambda: not is_connected(stage))
        stage.clock.turn(10)
        await stage.watch.run_once()
        async with stage.agent() as again:
            await again.output(probe_id, "two", "three", first_seq=2)
            await again.done(probe_id, last_seq=3)
            read = await stage.finished(probe_id)
        assert [line["text"] for line in read["lines"]] == ["one", "two", "three"]
        assert read["state"] == "done"

    async def test_a_start_that_was_not_acknowledged_is_repeated(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await agent.cut()
        async with stage.agent() as again:
            assert (await again.expect(ProbeStart)).probe_id == probe_id

    async def test_c4_a_node_that_beats_is_online_for_an_hour(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            for beats in range(1, 121):
                stage.clock.turn(30)
                await agent.heartbeat()
                await wait_until(lambda: heard_at(stage) == stage.clock())
                if beats % 20 == 0:
                    seen = await node(stage)
                    assert seen["liveness"] == "online"
                    assert seen["agent"]["last_seen_at"] == stage.clock().isoformat().replace("+00:00", "Z")
            connected_at = (await node(stage))["agent"]["connected_at"]
            assert connected_at == (stage.clock() - timedelta(hours=1)).isoformat().replace("+00:00", "Z")


class TestStopping:
    async def test_sockets_that_end_together_are_written_down_together(self, any_stage: Stage) -> None:
        link, written = any_stage.runs.link, 0

        def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            nonlocal written
            written += statement.startswith("UPDATE agents SET") and "disconnected_at" in statement

        async with AsyncExitStack() as stack:
            for name in NODES:
                await stack.enter_async_context(any_stage.agent(name))
            event.listen(Engine, "before_cursor_execute", note)
            try:
                await asyncio.gather(*map(link.disconnect, link.connections.all()))
            finally:
                event.remove(Engine, "before_cursor_execute", note)
        assert written == 2, "one for whoever came first, one for all others"
        async with any_stage.resources.database.reading() as session:
            agents = await AgentRepository(session).list_all()
        assert [agent.node_id for agent in agents if agent.disconnected_at is None] == []


class TestRefusing:
    async def test_c13_a_bad_token_is_refused_after_the_handshake_with_a_reason(self, stage: Stage) -> None:
        async with FakeAgent(stage.url, "rlg_" + "2" * 12 + "_" + "A" * 43) as agent:
            assert await agent.closed() == CloseCode.UNAUTHENTICATED
            assert "token" in agent.close_reason

    async def test_c13_so_is_none(self, stage: Stage) -> None:
        async with connect(f"ws://localhost:{stage.port}{SOCKET_PATH}", proxy=None) as bare:
            with pytest.raises(ConnectionClosed) as closed:
                await bare.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, bool(closed.value.rcvd.reason)) == (4401, True)


class TestWithoutAgent:
    async def test_nobody_online_is_a_conflict(self, stage: Stage) -> None:
        body = {"nodes": ["alpha", "beta"], "tool": "ping", "target": "192.0.2.1"}
        answer = await stage.request("POST", "/api/v1/probes", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "probe_no_agent_online")

    async def test_the_nodes_that_cannot_fail_at_once_and_the_others_run(self, any_stage: Stage) -> None:
        bare = {"capabilities": {"tools": {"traceroute": "1"}}}
        async with any_stage.agent("alpha") as alpha, any_stage.agent("beta", **bare):
            probe_id = await any_stage.create("alpha", "beta", "gamma")
            await alpha.play(await any_stage.started(alpha), ["fine"])
            read = await any_stage.finished(probe_id)
        states = {share["node"]: (share["state"], share["reason"]) for share in read["nodes"]}
        assert states == {
            "alpha": ("done", None),
            "beta": ("failed", "tool_missing"),
            "gamma": ("failed", "node_offline"),
        }
        assert read["state"] == "done"

    async def test_a_probe_that_no_node_can_run_has_ended_when_it_is_made(self, stage: Stage) -> None:
        async with stage.agent("alpha", capabilities={"tools": {}}) as agent:
            probe_id = await stage.create("alpha")
            events = await stage.watched(probe_id)
            assert agent.all(ProbeStart) == []
        assert [event.name for event in events] == ["state", "done"]
        assert (events[1].data["state"], events[1].data["reason"]) == ("failed", "tool_missing")

    async def test_a_busy_agent_says_so(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await agent.expect(ProbeStart)
            await agent.done(probe_id, exit_code=None, error=ProbeReason.BUSY, detail="10 probes run.")
            read = await stage.finished(probe_id)
        assert (read["state"], read["reason"], read["nodes"][0]["detail"]) == (
            "failed",
            "busy",
            "10 probes run.",
        )


def heard_at(stage: Stage) -> object:
    beat = stage.runs.link.presence.find("alpha")
    return beat.at if beat and isinstance(beat.heartbeat, Heartbeat) else None
