"""Windows of unconfirmed configurations, on a real BIRD that has nothing to do with the host's network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from node_agent.apply.daemon import Switch
from node_agent.apply.errors import ConfigurationNotRunning, ControllerLost
from node_agent.bird.client import conversing
from shared.testing.servers.bird import BirdServer
from shared.testing.waiting import wait_until

OLD, NEW = "1-aaaaaaaaaaaa", "2-bbbbbbbbbbbb"


def written(directory: Path, identity: str) -> Path:
    file = directory / f"{identity}.conf"
    text = f'define RL_CONFIG = "{identity}";\nrouter id 172.20.99.1;\nprotocol device rl_device {{ }}\n'
    file.write_text(text)
    return file


@pytest.fixture
def bird(tmp_path: Path) -> Iterator[BirdServer]:
    server = BirdServer(tmp_path, written(tmp_path, OLD))
    server.start()
    yield server
    server.stop()


async def running(socket: Path) -> str:
    async with conversing(socket) as conversation:
        return (await conversation.command("eval RL_CONFIG")).text


async def test_a_confirmation_that_comes_too_late_is_no_success(bird: BirdServer, tmp_path: Path) -> None:
    async def reach_when_it_is_over() -> bool:
        async def undone() -> bool:
            return await running(bird.socket) == OLD

        await wait_until(undone)
        return True

    switch = Switch(bird.socket, reach_when_it_is_over, window_seconds=1)
    with pytest.raises(ConfigurationNotRunning, match=OLD):
        await switch.take(written(tmp_path, NEW), NEW)
    assert await running(bird.socket) == OLD


async def test_what_cannot_reach_the_controller_is_undone_at_once(bird: BirdServer, tmp_path: Path) -> None:
    async def never() -> bool:
        return False

    switch = Switch(bird.socket, never, window_seconds=600)
    with pytest.raises(ControllerLost):
        await switch.take(written(tmp_path, NEW), NEW)
    assert await running(bird.socket) == OLD


async def test_a_window_that_was_left_open_is_closed_first(bird: BirdServer, tmp_path: Path) -> None:
    """The agent before this one died in it."""

    async def reached() -> bool:
        return True

    left = written(tmp_path, "3-cccccccccccc")
    async with conversing(bird.socket) as conversation:
        await conversation.command(f'configure "{left}" timeout 600')
    switch = Switch(bird.socket, reached, window_seconds=600)
    assert await switch.take(written(tmp_path, NEW), NEW) == [f"configured {NEW}"]
    async with conversing(bird.socket) as conversation:
        assert "undo" not in (await conversation.ask("configure status")).text
    assert await running(bird.socket) == NEW


async def test_a_session_that_is_not_there_stops_no_reload(bird: BirdServer) -> None:
    async def reached() -> bool:
        return True

    switch = Switch(bird.socket, reached)
    assert await switch.reload([]) == []
    assert await switch.reload(["rl_gone"]) == ["reloaded rl_gone"]
