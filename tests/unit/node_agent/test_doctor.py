"""The doctor's findings on hosts that lack something, and on one that lacks nothing of BIRD."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from node_agent import doctor, state
from node_agent.apply.store import ApplyStore
from node_agent.doctor import Grade
from node_agent.program import main
from node_agent.settings import AgentSettings
from shared.testing.servers.bird import BirdServer


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentSettings:
    home = tmp_path / "agent"
    state.prepare(home)
    values = {
        "STATE_DIRECTORY": str(home),
        "SERVER_URL": "http://127.0.0.1:9",
        "BIRD_SOCKET": str(tmp_path / "bird.ctl"),
        "BIRD_DIRECTORY": str(tmp_path / "routeloom"),
        "BIRD_LOCAL_DIRECTORY": str(tmp_path / "local"),
    }
    for name, value in values.items():
        monkeypatch.setenv(f"ROUTELOOM_AGENT_{name}", value)
    return AgentSettings()


@pytest.fixture
def bird(tmp_path: Path) -> Iterator[BirdServer]:
    configuration = tmp_path / "bird.conf"
    configuration.write_text('router id 172.20.99.1;\ndefine RL_CONFIG = "7-abc";\nprotocol device { }\n')
    server = BirdServer(tmp_path, configuration)
    server.start()
    yield server
    server.stop()


async def problems(settings: AgentSettings) -> dict[str, str]:
    found = await doctor.examine(settings)
    return {finding.text: finding.remedy for finding in found if finding.grade is Grade.PROBLEM}


async def test_what_does_not_answer_is_a_problem_with_its_remedy(settings: AgentSettings) -> None:
    found = await problems(settings)
    assert any("bird.ctl" in text and "systemctl start bird" in remedy for text, remedy in found.items())
    assert any("127.0.0.1:9 does not answer" in text for text in found)
    assert all(found.values())


async def test_a_bird_that_runs_is_named_with_what_it_runs(settings: AgentSettings, bird: BirdServer) -> None:
    assert bird.running
    found = [finding.text for finding in await doctor.examine(settings) if finding.grade is Grade.GOOD]
    assert any("answers and runs 7-abc" in text for text in found)


async def test_a_state_that_others_may_read_and_a_pause_are_told(settings: AgentSettings) -> None:
    settings.state_directory.chmod(0o755)
    ApplyStore(settings.state_directory).pause()
    found = {finding.text: finding for finding in await doctor.examine(settings)}
    assert any("others may look into" in text for text in found)
    assert any("paused" in text for text in found)


def test_the_commands_pause_resume_and_tell(
    settings: AgentSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pause"]) == 0
    assert ApplyStore(settings.state_directory).paused
    assert main(["resume"]) == 0
    assert not ApplyStore(settings.state_directory).paused
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert {finding["grade"] for finding in told} >= {"good", "problem"}
