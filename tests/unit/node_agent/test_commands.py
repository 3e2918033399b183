from __future__ import annotations

import signal
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node_agent.probes.commands import GRACE_SECONDS, build, find_executable
from shared.protocol.probes import ProbeOptions, Tool

OPTIONS = st.builds(
    ProbeOptions,
    count=st.none() | st.integers(1, 100),
    max_hops=st.none() | st.integers(1, 64),
    family=st.none() | st.sampled_from([4, 6]),
)
SECONDS = st.floats(min_value=0.1, max_value=600)


def argv(tool: Tool, address: str, seconds: float = 60, **options: int) -> str:
    return str(build(f"/usr/bin/{tool.value}", tool, ip_address(address), ProbeOptions(**options), seconds))


class TestBuild:
    def test_builds_each_tool_from_the_table(self) -> None:
        assert argv(Tool.PING, "192.0.2.1") == "ping -4 -n -O -c 4 -W 2 -- 192.0.2.1"
        assert argv(Tool.PING, "2001:db8::1", count=9) == "ping -6 -n -O -c 9 -W 2 -- 2001:db8::1"
        expected = "traceroute -4 -n -q 3 -N 6 -m 30 -w 2.0 -- 192.0.2.1"
        assert argv(Tool.TRACEROUTE, "192.0.2.1") == expected
        expected = "mtr -6 --raw -n -c 10 -i 1 -G 1 -m 30 -- 2001:db8::1"
        assert argv(Tool.MTR, "2001:db8::1") == expected

    def test_ping_gets_its_own_deadline_only_when_its_count_does_not_fit(self) -> None:
        assert "-w" not in argv(Tool.PING, "192.0.2.1", 10, count=5).split()
        assert "-w 8" in argv(Tool.PING, "192.0.2.1", 10, count=50)

    def test_traceroute_waits_so_long_that_a_silent_path_ends_in_time(self) -> None:
        words = argv(Tool.TRACEROUTE, "192.0.2.1", 20, max_hops=60).split()
        wait = float(words[words.index("-w") + 1])
        assert wait * 60 * 3 / 6 <= 20 - GRACE_SECONDS

    @pytest.mark.parametrize("seconds", [5.0, 30.0])
    def test_mtr_runs_as_many_cycles_as_fit(self, seconds: float) -> None:
        words = argv(Tool.MTR, "192.0.2.1", seconds, count=100).split()
        assert int(words[words.index("-c") + 1]) + 1 <= seconds - GRACE_SECONDS

    def test_ping_is_interrupted_so_that_it_prints_its_statistics(self) -> None:
        command = build("/usr/bin/ping", Tool.PING, ip_address("192.0.2.1"), ProbeOptions(), 60)
        assert command.stop_signal is signal.SIGINT

    @settings(deadline=None)
    @given(st.sampled_from(list(Tool)), st.ip_addresses(), OPTIONS, SECONDS)
    def test_ends_with_the_address_and_nothing_of_the_caller(
        self, tool: Tool, address: object, options: ProbeOptions, seconds: float
    ) -> None:
        target = ip_address(str(address))
        command = build(f"/usr/bin/{tool.value}", tool, target, options, seconds)
        assert command.argv[-2:] == ("--", str(target))
        assert command.argv[1] == f"-{target.version}"
        assert all(word == word.strip() and word for word in command.argv)


class TestFindExecutable:
    def test_finds_the_first_that_can_be_executed(self, tmp_path: Path) -> None:
        first, second = tmp_path / "first", tmp_path / "second"
        for directory, mode in ((first, 0o644), (second, 0o755)):
            directory.mkdir()
            (directory / "ping").touch(mode=mode)
        assert find_executable(Tool.PING, (str(first), str(second))) == str(second / "ping")

    def test_ignores_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "ping").touch(mode=0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert find_executable(Tool.PING, ()) is None
