"""A network that says nothing: noticed in time, and left alone when it comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from node_agent.settings import AgentSettings
from shared.testing.fault_proxy import FaultProxy, fault_proxy
from tests.integration.agent.conftest import RunAgent
from tests.integration.agent.control_double import ControlDouble

# Both wait for the agent's own bounds.
pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]

#: The agent asks every 20 s and waits as long for the answer; a little more is for a busy machine.
_NOTICED_WITHIN = 45


@pytest.fixture
async def proxy(control: ControlDouble) -> AsyncIterator[FaultProxy]:
    async with fault_proxy(urlsplit(control.url).port or 0) as opened:
        yield opened


@pytest.fixture
def behind_it(settings: AgentSettings, proxy: FaultProxy) -> AgentSettings:
    return settings.model_copy(update={"server_url": f"http://127.0.0.1:{proxy.port}"})


async def test_c14_a_link_into_a_black_hole_is_left_within_45_seconds(
    control: ControlDouble, proxy: FaultProxy, behind_it: AgentSettings, run_agent: RunAgent
) -> None:
    async with run_agent(behind_it):
        await control.next_line()
        proxy.pause()
        await asyncio.sleep(_NOTICED_WITHIN)
        proxy.resume()
        # Had it not left by now, the old link would simply go on.
        line = await control.next_line()
        await line.expect("heartbeat")


async def test_c14_answers_that_are_swallowed_for_25_seconds_cost_one_reconnect_at_most(
    control: ControlDouble, proxy: FaultProxy, behind_it: AgentSettings, run_agent: RunAgent
) -> None:
    control.heartbeat_seconds = 1
    async with run_agent(behind_it):
        await control.next_line()
        proxy.pause()
        await asyncio.sleep(25)
        proxy.resume()
        await asyncio.sleep(_NOTICED_WITHIN)
        assert len(control.lines) <= 2
        await control.lines[-1].expect("heartbeat", count=2)
