"""Tools that misbehave: executables of the test's own in place of ping, run by the real agent."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from node_agent.settings import AgentSettings
from shared.protocol.frames import ProbeCancel, ProbeRefused
from shared.testing.waiting import wait_until
from tests.integration.agent.conftest import RunAgent, Toolbox
from tests.integration.agent.control_double import ControlDouble, Line

#: A tool that ignores requests to end, with a child that does too. It writes both ids to a file.
STUBBORN = "trap '' TERM INT; sleep 1000 & echo $$ $! > {ids}; echo started; wait; sleep 1000"


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie that nobody has reaped yet does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def process_ids(path: Path) -> list[int]:
    return [int(text) for text in path.read_text().split()]


def texts(line: Line, probe_id: UUID) -> list[str]:
    return [each["text"] for each in line.lines(probe_id)]


async def gone(path: Path) -> None:
    await wait_until(lambda: not any(alive(pid) for pid in process_ids(path)))


class TestOutput:
    async def test_keeps_every_line_of_a_tool_that_exits_at_once(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("seq 1 500")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            for _ in range(20):
                probe_ids = [await line.start_probe("ping", "127.0.0.1") for _ in range(5)]
                for probe_id in probe_ids:
                    done = await line.expect("probe_done", probe_id)
                    assert (done["last_seq"], done["exit_code"]) == (500, 0)
                    assert texts(line, probe_id) == [str(number) for number in range(1, 501)]
        assert max(len(frame["lines"]) for frame in line.frames if frame["type"] == "probe_output") == 50

    async def test_says_nothing_after_the_end(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        # A child that outlives the tool holds the pipe open and would go on writing.
        toolbox.install("(while :; do echo late; sleep 0.01; done) & echo early")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id, done = await line.run_probe("ping", "127.0.0.1", limits={"seconds": 1})
            await line.send({"type": "ping", "nonce": "after"})
            await line.expect("pong")
        kinds = [frame["type"] for frame in line.frames if frame.get("probe_id") == str(probe_id)]
        assert kinds[-1] == "probe_done"
        assert kinds.count("probe_done") == 1
        assert done["last_seq"] == len(line.lines(probe_id))

    async def test_shows_what_is_not_text_harmlessly(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install(r"printf '\n10%%\r20%%\r\nnul\000esc\033[2J\377\303\nlast'")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id, _ = await line.run_probe("ping", "127.0.0.1")
        assert texts(line, probe_id) == ["", "10%", "20%", "nul\\x00esc\\x1b[2J\ufffd\ufffd", "last"]

    async def test_bounds_lines_and_their_length(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("head -c 2000000 /dev/zero | tr '\\0' x; echo; seq 1 100000; sleep 1000")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            limits = {"lines": 100, "line_bytes": 1000}
            probe_id, done = await line.run_probe("ping", "127.0.0.1", limits=limits)
        lines = texts(line, probe_id)
        assert lines[0] == "x" * 1000 + " … [1999000 bytes cut]"
        assert lines[1:100] == [str(number) for number in range(1, 100)]
        assert len(lines) == 101
        assert "truncated" in lines[100]
        assert line.lines(probe_id)[100]["stream"] == "note"
        assert (done["error"], done["truncated"]) == ("output_limit", True)

    async def test_bounds_bytes(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("yes 123456789")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id, done = await line.run_probe("ping", "127.0.0.1", limits={"total_bytes": 1000})
        assert done["error"] == "output_limit"
        assert sum(len(text) for text in texts(line, probe_id)[:-1]) <= 1000

    async def test_tells_a_failure_with_the_tools_own_words(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("echo 'ping: made-up trouble' >&2; exit 2")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id, done = await line.run_probe("ping", "127.0.0.1")
        assert (done["exit_code"], done["error"]) == (2, "tool_failed")
        assert done["detail"] == "ping: made-up trouble"
        assert [(each["stream"], each["text"]) for each in line.lines(probe_id)] == [
            ("stderr", "ping: made-up trouble")
        ]

    async def test_no_reply_is_a_result_and_no_failure(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("echo '3 packets transmitted, 0 received, 100% packet loss, time 2030ms'; exit 1")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            _, done = await line.run_probe("ping", "127.0.0.1")
        assert (done["exit_code"], done["error"]) == (1, None)
        assert done["summary"]["loss_percent"] == 100
        assert done["summary"]["avg_ms"] is None

    async def test_gives_the_tool_nothing_but_its_arguments(
        self,
        control: ControlDouble,
        settings: AgentSettings,
        run_agent: RunAgent,
        toolbox: Toolbox,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("MADE_UP_SECRET", "secret")
        toolbox.install('env | grep -v "^_=" | sort; cat; echo "$*"')
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id, _ = await line.run_probe("ping", "::1", options={"count": 3})
        assert texts(line, probe_id) == [
            "LANG=C",
            "LC_ALL=C",
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
            "PWD=/",
            "-6 -n -O -c 3 -W 2 -- ::1",
        ]


class TestEnds:
    async def test_kills_the_whole_group_at_the_deadline(
        self,
        control: ControlDouble,
        settings: AgentSettings,
        run_agent: RunAgent,
        toolbox: Toolbox,
        tmp_path: Path,
    ) -> None:
        toolbox.install(STUBBORN.format(ids=tmp_path / "ids"))
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id, done = await line.run_probe("ping", "127.0.0.1", limits={"seconds": 0.5})
            await gone(tmp_path / "ids")
        assert done["error"] == "deadline"
        assert texts(line, probe_id) == ["started"]

    async def test_kills_the_whole_group_when_cancelled(
        self,
        control: ControlDouble,
        settings: AgentSettings,
        run_agent: RunAgent,
        toolbox: Toolbox,
        tmp_path: Path,
    ) -> None:
        toolbox.install(STUBBORN.format(ids=tmp_path / "ids"))
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id = await line.start_probe("ping", "127.0.0.1")
            await line.expect("probe_output", probe_id)
            await line.send(ProbeCancel(probe_id=probe_id))
            done = await line.expect("probe_done", probe_id)
            await gone(tmp_path / "ids")
        assert done["error"] == "cancelled"

    async def test_answers_a_cancel_for_a_probe_it_does_not_know(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id = UUID(int=7)
            await line.send(ProbeCancel(probe_id=probe_id))
            assert (await line.expect("probe_done", probe_id))["error"] == "cancelled"

    async def test_stops_a_tool_whose_output_the_server_refuses(
        self,
        control: ControlDouble,
        settings: AgentSettings,
        run_agent: RunAgent,
        toolbox: Toolbox,
        tmp_path: Path,
    ) -> None:
        toolbox.install(STUBBORN.format(ids=tmp_path / "ids"))
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id = await line.start_probe("ping", "127.0.0.1")
            await line.expect("probe_output", probe_id)
            await line.send(ProbeRefused(probe_id=probe_id, code="probe_final"))
            await gone(tmp_path / "ids")
            await line.send({"type": "ping", "nonce": "n"})
            await line.expect("pong")
        assert not [frame for frame in line.frames if frame["type"] == "probe_done"]

    async def test_leaves_no_tool_behind_and_says_so_when_the_agent_stops(
        self,
        control: ControlDouble,
        settings: AgentSettings,
        run_agent: RunAgent,
        toolbox: Toolbox,
        tmp_path: Path,
    ) -> None:
        toolbox.install(STUBBORN.format(ids=tmp_path / "ids"))
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            probe_id = await line.start_probe("ping", "127.0.0.1")
            await line.expect("probe_output", probe_id)
        assert not any(alive(pid) for pid in process_ids(tmp_path / "ids"))
        assert (await line.expect("probe_done", probe_id))["error"] == "cancelled"


class TestStart:
    async def test_is_busy_at_once_when_enough_runs(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("sleep 1000")
        few = settings.model_copy(update={"concurrent_probes": 2})
        async with run_agent(few, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            for _ in range(2):
                await line.expect("probe_accepted", await line.start_probe("ping", "127.0.0.1"))
            probe_id, done = await line.run_probe("ping", "127.0.0.1")
        assert done["error"] == "busy"
        assert not [
            f for f in line.frames if f["type"] == "probe_accepted" and f["probe_id"] == str(probe_id)
        ]

    async def test_says_that_a_tool_is_missing(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("true")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            _, done = await line.run_probe("mtr", "127.0.0.1")
        assert (done["error"], done["exit_code"]) == ("tool_missing", None)
        assert line.frames[0]["capabilities"]["tools"] == {"ping": "made up"}

    async def test_runs_a_probe_once_that_is_asked_for_twice(
        self,
        control: ControlDouble,
        settings: AgentSettings,
        run_agent: RunAgent,
        toolbox: Toolbox,
        tmp_path: Path,
    ) -> None:
        toolbox.install(f"echo run >> {tmp_path}/runs; echo line")
        wanted: dict[str, Any] = {"type": "probe_start", "tool": "ping", "target": "127.0.0.1"}
        wanted |= {"probe_id": str(UUID(int=9)), "targets": {"allow": ["127.0.0.0/8"]}}
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            await line.send(wanted)
            await line.send(wanted)
            await line.expect("probe_done")
            await line.send(wanted)
            await line.expect("probe_done", count=2)
        assert (tmp_path / "runs").read_text() == "run\n"
        assert {each["seq"] for each in line.lines(UUID(int=9))} == {1}

    async def test_a_file_that_cannot_be_executed_is_a_failure_with_a_reason(
        self, control: ControlDouble, settings: AgentSettings, run_agent: RunAgent, toolbox: Toolbox
    ) -> None:
        toolbox.install("true")
        (toolbox.directory / "ping").write_bytes(b"#!/made-up/interpreter\n")
        async with run_agent(settings, surroundings=toolbox.surroundings()):
            line = await control.next_line()
            _, done = await line.run_probe("ping", "127.0.0.1")
        assert done["error"] == "tool_failed"
        assert os.strerror(2) in done["detail"]
