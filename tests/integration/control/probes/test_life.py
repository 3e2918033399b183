"""The life of a probe, from its request to its one ending."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from control_server.probes.rules import CANCEL_GRACE, DEADLINE_GRACE
from control_server.probes.store import TRUNCATED
from shared.protocol.frames import (
    ErrorFrame,
    Heartbeat,
    ProbeCancel,
    ProbeDone,
    ProbeRefused,
    ProbeStart,
    ProbeStored,
)
from shared.protocol.probes import ProbeReason
from tests.integration.control.probes.stage import HandClock, Prepared, SeenEvent, Stage, serving, settings_of


def outputs(events: list[SeenEvent]) -> list[str]:
    return [event.data["text"] for event in events if event.name == "output"]


def the_end(events: list[SeenEvent]) -> dict[str, Any]:
    """The data of the one terminal event, which is the last."""
    assert [event.name for event in events].count("done") == 1
    assert events[-1].name == "done"
    return events[-1].data


class TestMainPath:
    async def test_a_probe_streams_every_line_and_then_its_end(self, any_stage: Stage) -> None:
        async with any_stage.agent() as agent:
            probe_id = await any_stage.create("alpha")
            async with any_stage.reader(probe_id) as reader:
                assert await any_stage.started(agent) == probe_id
                await agent.output(probe_id, "one", "two", "three")
                await agent.done(probe_id, summary={"loss": 0.0})
                events = await reader.rest()
            stored = await agent.expect(ProbeStored, lambda frame: frame.final)
        assert stored.seq == 3
        assert events[0].name == "state"
        assert outputs(events) == ["one", "two", "three"]
        assert the_end(events)["state"] == "done"
        line = next(event for event in events if event.name == "output")
        assert line.data == {"node": "alpha", "seq": 1, "stream": "stdout", "text": "one"}
        epoch = line.id.split("-")[0]
        assert [event.id for event in events if event.id] == [f"{epoch}-{n}" for n in (1, 2, 3, 4)]
        read = await any_stage.read(probe_id)
        assert (read["state"], read["complete"], read["missing"]) == ("done", True, None)
        assert [line["text"] for line in read["lines"]] == ["one", "two", "three"]
        (share,) = read["nodes"]
        assert (share["command"], share["summary"]) == ("made-up tool", {"loss": 0.0})
        assert (share["accepted_lines"], share["archived_lines"]) == (3, 3)

    async def test_a_probe_over_nodes_has_one_numbering_and_one_end(self, stage: Stage) -> None:
        async with stage.agent("alpha") as alpha, stage.agent("beta") as beta:
            probe_id = await stage.create("alpha", "beta")
            await asyncio.gather(
                alpha.play(await stage.started(alpha), ["a1", "a2"]),
                beta.play(await stage.started(beta), ["b1"]),
            )
            events = await stage.watched(probe_id)
        lines = [event.data for event in events if event.name == "output"]
        assert [line["seq"] for line in lines] == [1, 2, 3]
        assert {line["node"] for line in lines} == {"alpha", "beta"}
        assert [node["state"] for node in the_end(events)["nodes"]] == ["done", "done"]

    async def test_text_that_a_database_would_refuse_is_repaired(self, any_stage: Stage) -> None:
        async with any_stage.agent() as agent:
            probe_id = await any_stage.create("alpha")
            await any_stage.started(agent)
            await agent.send(
                f'{{"type":"probe_output","probe_id":"{probe_id}","seq":1,"text":"a\\u0000b\\ud800\\r\\nc"}}'
            )
            await agent.done(
                probe_id, detail="\x00", summary={"\x00": ["\x00", float("nan")]}, exit_code=2, last_seq=1
            )
            read = await any_stage.finished(probe_id)
        assert [line["text"] for line in read["lines"]] == ["a\ufffdb\ufffd\r\nc"]
        assert read["nodes"][0]["summary"] == {"\ufffd": ["\ufffd", None]}


class TestEndings:
    async def test_a1_an_agent_that_falls_silent_ends_as_expired(self, any_stage: Stage) -> None:
        async with any_stage.agent() as agent:
            probe_id = await any_stage.create("alpha")
            async with any_stage.reader(probe_id) as reader:
                await any_stage.started(agent)
                await agent.output(probe_id, "only this")
                await reader.outputs(1)
                any_stage.clock.turn(60 + DEADLINE_GRACE.total_seconds())
                await any_stage.watch.run_once()
                events = await reader.rest()
            assert (the_end(events)["state"], the_end(events)["reason"]) == ("expired", "deadline")
            read = await any_stage.read(probe_id)
            assert (read["state"], read["reason"]) == ("expired", "deadline")
            assert any_stage.runs.relay.viewers() == 0
            await agent.expect(ProbeCancel)

    async def test_a2_what_comes_after_the_end_changes_nothing(self, any_stage: Stage) -> None:
        async with any_stage.agent() as agent:
            probe_id = await any_stage.create("alpha")
            await any_stage.started(agent)
            await agent.output(probe_id, "in time")
            await agent.expect(ProbeStored)
            any_stage.clock.turn(100)
            await any_stage.watch.run_once()
            before = await any_stage.finished(probe_id)
            await agent.output(probe_id, "too late")
            refused = await agent.expect(ProbeRefused)
            assert (refused.probe_id, refused.code) == (probe_id, "probe_output_refused")
            await agent.done(probe_id)
            assert (await agent.expect(ProbeRefused)).code == "probe_output_refused"
            await agent.accept(probe_id)
            assert (await agent.expect(ProbeRefused)).code == "probe_output_refused"
        assert await any_stage.read(probe_id) == before
        assert outputs(await any_stage.watched(probe_id)) == ["in time"]

    async def test_a3_the_end_and_the_watch_at_one_instant_give_one_ending(self, any_stage: Stage) -> None:
        await race(any_stage, rounds=5)

    @pytest.mark.soak
    @pytest.mark.timeout(900)
    async def test_a3_two_hundred_times(self, any_stage: Stage) -> None:
        await race(any_stage, rounds=200)

    async def test_a4_a_line_of_the_last_second_is_kept(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await agent.output(probe_id, "first")
            await agent.expect(ProbeStored)
            stage.clock.turn(60 + DEADLINE_GRACE.total_seconds() - 1)
            await stage.watch.run_once()
            await agent.output(probe_id, "last")
            await agent.done(probe_id)
            read = await stage.finished(probe_id)
        assert read["state"] == "done"
        assert [line["text"] for line in read["lines"]] == ["first", "last"]

    async def test_a5_a_tool_that_says_nothing_fails_with_a_reason(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await agent.done(probe_id, exit_code=2, detail="ping: socket: Operation not permitted")
            read = await stage.finished(probe_id)
        (share,) = read["nodes"]
        assert (read["state"], read["reason"]) == ("failed", "tool_failed")
        assert (share["exit_code"], share["detail"]) == (2, "ping: socket: Operation not permitted")
        assert read["lines"] == []

    async def test_a5_what_the_tool_wrote_to_its_error_stream_is_kept(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            line = {"seq": 1, "stream": "stderr", "text": "ping: bad thing"}
            await agent.send({"type": "probe_output", "probe_id": str(probe_id), "lines": [line]})
            await agent.done(probe_id, exit_code=2, last_seq=1)
            read = await stage.finished(probe_id)
        assert [(line["stream"], line["text"]) for line in read["lines"]] == [("stderr", "ping: bad thing")]

    async def test_a10_odd_frames_are_answered_and_harm_nobody(self, stage: Stage) -> None:
        async with stage.agent() as agent, stage.agent("beta") as other:
            probe_id = await stage.create("alpha", "beta")
            await stage.started(agent)
            for odd in (
                {"type": "probe_done"},
                {"type": "probe_output", "probe_id": 7, "lines": []},
                {"type": "probe_output", "probe_id": str(probe_id), "lines": [{"seq": "x", "text": None}]},
                {"type": "probe_accepted", "probe_id": {"a": 1}},
            ):
                await agent.send(odd)
                assert str(odd["type"]) in (await agent.expect(ErrorFrame)).detail
            await agent.send({"type": "probe_output", "probe_id": str(probe_id), "seq": 1, "text": "well"})
            await agent.done(probe_id, last_seq=1)
            await other.play(await stage.started(other), ["fine"])
            assert (await stage.finished(probe_id))["state"] == "done"

    async def test_a11_a_huge_line_is_cut_and_ends_the_probe(self, any_stage: Stage) -> None:
        async with any_stage.agent() as agent:
            probe_id = await any_stage.create("alpha")
            await any_stage.started(agent)
            await agent.output(probe_id, "x" * 2_000_000)
            read = await any_stage.finished(probe_id)
            await agent.expect(ProbeCancel)
        assert (read["state"], read["reason"], read["nodes"][0]["truncated"]) == (
            "failed",
            "output_limit",
            True,
        )
        assert len(read["lines"][0]["text"]) < 20_000
        assert read["lines"][-1] == {"node": "alpha", "seq": 2, "stream": "note", "text": TRUNCATED}

    async def test_a11_lines_past_the_limit_are_not_kept(
        self, on_sqlite: Prepared, tmp_path: Path, clock: HandClock
    ) -> None:
        settings = settings_of(on_sqlite, tmp_path, lines=400)
        async with serving(settings, clock, on_sqlite) as stage, stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await agent.output(probe_id, *("line" for _ in range(1000)))
            read = await stage.finished(probe_id)
            events = await stage.watched(probe_id)
        assert (read["reason"], len(read["lines"])) == ("output_limit", 400)
        assert outputs(events)[-1] == TRUNCATED
        assert the_end(events)["reason"] == "output_limit"

    async def test_a13_a_blank_first_line_is_a_line(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await agent.play(await stage.started(agent), ["", "PING", ""])
            read = await stage.finished(probe_id)
        assert [(line["seq"], line["text"]) for line in read["lines"]] == [(1, ""), (2, "PING"), (3, "")]

    async def test_a16_partial_output_of_an_unreachable_target_comes_before_our_deadline(
        self, stage: Stage
    ) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha", tool="traceroute")
            start = await agent.expect(ProbeStart)
            await agent.accept(probe_id)
            await agent.output(probe_id, " 1  *", " 2  *")
            await agent.expect(ProbeStored)
            stage.clock.turn(start.limits.seconds + 2)
            await stage.watch.run_once()
            await agent.done(probe_id, exit_code=None, error=ProbeReason.DEADLINE, summary={"reached": False})
            read = await stage.finished(probe_id)
        assert (read["state"], read["reason"]) == ("expired", "deadline")
        assert [line["text"] for line in read["lines"]] == [" 1  *", " 2  *"]
        assert read["nodes"][0]["summary"] == {"reached": False}

    async def test_a20_the_end_never_overtakes_the_last_lines(self, stage: Stage) -> None:
        await burst(stage, rounds=3)

    @pytest.mark.soak
    @pytest.mark.timeout(900)
    async def test_a20_a_hundred_times(self, stage: Stage) -> None:
        await burst(stage, rounds=100)

    async def test_an_agent_that_never_says_that_it_started(self, stage: Stage) -> None:
        async with stage.agent():
            probe_id = await stage.create("alpha")
            stage.clock.turn(10)
            await stage.watch.run_once()
            read = await stage.finished(probe_id)
        assert (read["state"], read["reason"]) == ("expired", "not_started")

    async def test_no_answer_to_a_ping_is_a_result(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await agent.play(await stage.started(agent), ["100% packet loss"], exit_code=1)
            read = await stage.finished(probe_id)
        assert (read["state"], read["nodes"][0]["exit_code"]) == ("done", 1)


class TestOwnership:
    async def test_an_agent_cannot_touch_the_probe_of_another_node(self, stage: Stage) -> None:
        async with stage.agent() as agent, stage.agent("beta") as stranger:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await stranger.output(probe_id, "forged")
            assert (await stranger.expect(ProbeRefused)).code == "probe_unknown"
            await stranger.done(probe_id)
            assert (await stranger.expect(ProbeRefused)).code == "probe_unknown"
            await stranger.accept(probe_id)
            assert (await stranger.expect(ProbeRefused)).code == "probe_unknown"
            await agent.play(probe_id, ["true"])
            read = await stage.finished(probe_id)
        assert [line["text"] for line in read["lines"]] == ["true"]

    async def test_a_batch_that_comes_again_changes_nothing(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await agent.output(probe_id, "one", "two")
            await agent.output(probe_id, "one", "two", "three", first_seq=1)
            await agent.done(probe_id, last_seq=3)
            read = await stage.finished(probe_id)
        assert [line["text"] for line in read["lines"]] == ["one", "two", "three"]


class TestCancel:
    async def test_the_agent_stops_and_what_it_said_is_kept(self, any_stage: Stage) -> None:
        async with any_stage.agent() as agent:
            probe_id = await any_stage.create("alpha")
            await any_stage.started(agent)
            await agent.output(probe_id, "one")
            assert await status(any_stage, probe_id, "operator") == 202
            assert await status(any_stage, probe_id, "operator") == 202
            assert (await agent.expect(ProbeCancel)).probe_id == probe_id
            await agent.output(probe_id, "statistics")
            await agent.done(probe_id, exit_code=None, error=ProbeReason.CANCELLED)
            read = await any_stage.finished(probe_id)
            assert await status(any_stage, probe_id, "operator") == 409
        assert (read["state"], read["reason"]) == ("cancelled", "cancelled")
        assert [line["text"] for line in read["lines"]] == ["one", "statistics"]

    async def test_an_agent_that_does_not_answer_is_not_waited_for_long(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await stage.request("POST", f"/api/v1/probes/{probe_id}/cancel")
            stage.clock.turn(CANCEL_GRACE.total_seconds())
            await stage.watch.run_once()
            assert (await stage.finished(probe_id))["state"] == "cancelled"

    async def test_viewers_cancel_their_own_and_operators_any(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha", who="viewer")
            await stage.started(agent)
            assert await status(stage, probe_id, "bystander") == 403
            assert await status(stage, probe_id, "viewer") == 202
            other = await stage.create("alpha", who="viewer")
            assert await status(stage, other, "operator") == 202

    async def test_both_acts_are_in_the_audit_trail(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await stage.request("POST", f"/api/v1/probes/{probe_id}/cancel")
            trail = await stage.request("GET", "/api/v1/audit?object_type=probe", "admin")
        acts = [(item["action"], item["actor_id"], item["object_id"]) for item in trail.json()["items"]]
        who = ("person:operator", str(probe_id))
        assert sorted(acts) == [("probe.cancelled", *who), ("probe.created", *who)]


async def status(stage: Stage, probe_id: UUID, who: str) -> int:
    answer = await stage.request("POST", f"/api/v1/probes/{probe_id}/cancel", who)
    return int(answer.status_code)


async def race(stage: Stage, rounds: int) -> None:
    """The agent's last word and the deadline meet, over the socket and in the watch."""
    states = set()
    async with stage.agent() as agent:
        for _ in range(rounds):
            probe_id = await stage.create("alpha")
            await stage.started(agent)
            await agent.output(probe_id, "line")
            await agent.expect(ProbeStored)
            async with stage.reader(probe_id) as reader:
                await reader.outputs(1)
                stage.clock.turn(60 + DEADLINE_GRACE.total_seconds())
                peer = stage.app.state.agent_link.connections.find("alpha")
                assert peer is not None
                done = ProbeDone(probe_id=probe_id, exit_code=0, last_seq=1)
                await asyncio.gather(
                    stage.runs.done(peer, done), stage.watch.run_once(), agent.done(probe_id)
                )
                events = await reader.rest()
            read = await stage.read(probe_id)
            assert the_end(events)["state"] == read["state"]
            assert the_end(events)["seq"] == 2
            states.add(read["state"])
            await agent.send(Heartbeat(agent_version="1", uptime_seconds=1))
    assert states <= {"done", "expired"}


async def burst(stage: Stage, rounds: int) -> None:
    texts = [f"line {n}" for n in range(500)]
    async with stage.agent() as agent:
        for _ in range(rounds):
            probe_id = await stage.create("alpha")
            async with stage.reader(probe_id) as reader:
                await agent.play(await stage.started(agent), texts)
                events = await reader.rest()
            assert outputs(events) == texts
            assert the_end(events)["seq"] == 501
