"""Caches that prove themselves, or do so no more, by the word of a real BIRD."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from node_agent.apply.daemon import Switch
from node_agent.apply.proof import sessions_of, standing, to_be_proven
from node_agent.bird.client import conversing
from shared.protocol.desired_state.document import DesiredState
from shared.rendering.bird import Surroundings, render
from shared.rendering.versions import BirdVersion
from shared.testing.servers.bird import BirdServer
from tests.unit.shared.rendering.complete import document

#: A static protocol stands in for a cache: what it says is there or not, as with one that comes and goes.
CONFIGURATION = """
router id 172.20.99.1;
timeformat base iso long;
define RL_ASN = 4242429900;
define RL_PROOF4 = 172.20.99.0/26;
roa4 table rl_roa4;
protocol device rl_device { }
protocol static cache { roa4 { table rl_roa4; }; route 172.20.99.0/26 max 29 as 4242429900; }
filter rl_f_in { if roa_check(rl_roa4, RL_PROOF4, RL_ASN) = ROA_VALID then accept; reject; }
protocol bgp rl_f {
  local 127.0.0.1 as 4242429900;
  neighbor 127.0.0.1 port 9 as 4242429801;
  multihop;
  ipv4 { import table on; import filter rl_f_in; export none; };
}
"""


@pytest.fixture
def bird(tmp_path: Path) -> Iterator[BirdServer]:
    file = tmp_path / "bird.conf"
    file.write_text(CONFIGURATION)
    server = BirdServer(tmp_path, file)
    server.start()
    yield server
    server.stop()


async def stands(server: BirdServer) -> str:
    async with conversing(server.socket) as conversation:
        return await standing(conversation)


async def say(server: BirdServer, command: str) -> None:
    async with conversing(server.socket) as conversation:
        await conversation.command(command)


async def controller() -> bool:
    return True


async def test_a_proof_stands_while_its_cache_says_so(bird: BirdServer) -> None:
    proven = await stands(bird)
    assert proven.startswith("TRUE none since ")
    assert await stands(bird) == proven
    await say(bird, "disable cache")
    assert (await stands(bird)).startswith("FALSE none since ")
    await say(bird, "enable cache")
    assert await stands(bird) == proven


async def test_another_life_of_the_daemon_is_another_proof(bird: BirdServer) -> None:
    before = await stands(bird)
    await say(bird, "configure")
    assert await stands(bird) == before
    assert not before.endswith("unknown")


async def test_a_session_that_is_down_is_asked_too_and_nothing_is_made_of_it(bird: BirdServer) -> None:
    done = await Switch(bird.socket, controller).reload(["rl_f"])
    assert done == ["reloaded rl_f"]


def test_all_sessions_with_others_and_no_inside_ones() -> None:
    state = DesiredState.model_validate(document())
    found = sessions_of(render(state, 1, Surroundings(BirdVersion(2, 0, 12))))
    assert set(found) >= {
        f"rl_{peering.name}" for peering in state.peerings if peering.session.mode != "split"
    }
    assert not [name for name in found if name.startswith("rl_i_")]


@pytest.mark.parametrize(
    "change",
    [{"roa": {"mode": "off"}}, {"roa": {"mode": "strict", "servers": []}}, {"routing": False}],
)
def test_nothing_is_to_be_proven_where_no_cache_decides(change: dict[str, object]) -> None:
    assert to_be_proven(DesiredState.model_validate(document()))
    assert not to_be_proven(DesiredState.model_validate({**document(), **change}))
