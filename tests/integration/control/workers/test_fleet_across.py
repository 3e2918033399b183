"""Who is connected, when nodes were heard, and whose token is good: one answer from every worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import func, select

from control_server.agents.dependencies import directory
from control_server.agents.errors import AgentTokenRefused
from control_server.agents.repository import AgentRepository
from control_server.keys import AGENT_LIVE, AGENT_SOCKET
from shared.kernel.secrets import digest_of
from shared.protocol.frames import CloseCode, Heartbeat
from shared.testing.servers import KeyValueServer
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import Stage
from tests.integration.control.workers.pair import Pair, reachable, until_reachable


async def liveness(stage: Stage, node: str = "alpha") -> str:
    answer = await stage.request("GET", f"/api/v1/nodes/{node}")
    found: str = answer.json()["liveness"]
    return found


class TestPresence:
    async def test_a_node_at_one_worker_is_online_at_the_other(self, pair: Pair) -> None:
        async with pair.b.agent() as agent:
            await agent.heartbeat(applied_generation=7)
            await wait_until(lambda: self.generation(pair.a))
            assert await liveness(pair.a) == "online"
            live = await pair.a.resources.kv.survey(AGENT_LIVE)
            sockets = await pair.a.resources.kv.survey(AGENT_SOCKET)
        assert live.longest_ttl_seconds is not None
        assert sockets.longest_ttl_seconds is not None
        assert (live.count, sockets.count, live.without_ttl, sockets.without_ttl) == (1, 1, 0, 0)
        assert live.longest_ttl_seconds <= 600
        assert sockets.longest_ttl_seconds <= 90

    @staticmethod
    async def generation(stage: Stage) -> bool:
        read = (await stage.request("GET", "/api/v1/nodes/alpha")).json()
        return bool(read["generation"]["applied"] == 7)

    async def test_the_clocks_of_two_hosts_need_not_agree(self, pair: Pair) -> None:
        async with pair.b.agent() as agent:
            await agent.heartbeat()
            await until_reachable(pair.a, "alpha")
            # The tests' clock is years away from the server's, whose ages alone are used.
            await pair.a.runs.link.roster.refresh(["alpha"])
            beat = pair.a.runs.link.presence.find("alpha")
            assert beat is not None
            assert abs((beat.at - pair.a.clock()).total_seconds()) < 60

    async def test_c6_a_link_is_noted_by_the_clock_of_the_database(self, pair: Pair) -> None:
        """However wrong the worker's own is: the tests' clock is years ahead."""

        async def noted() -> tuple[float, Any]:
            async with pair.a.resources.database.reading() as session:
                there = await session.scalar(select(func.clock_timestamp()))
                agent = await AgentRepository(session).find("delta")
            assert agent is not None
            assert there is not None
            assert agent.connected_at is not None
            return (there - agent.connected_at).total_seconds(), agent.disconnected_at

        async with pair.b.agent("delta"):
            age, ended_at = await noted()
            assert 0 <= age < 60
            assert ended_at is None

        async def ended() -> bool:
            return (await noted())[1] is not None

        await wait_until(ended)
        assert (await noted())[1] < pair.b.clock()

    async def test_sql_is_told_by_the_clock_of_the_database(self, pair: Pair) -> None:
        await pair.a.runs.link.hear("gamma", Heartbeat(agent_version="1", uptime_seconds=1))
        pair.a.clock.turn(40)
        await pair.a.runs.link.write_last_seen()
        async with pair.b.resources.database.reading() as session:
            agent = await AgentRepository(session).find("gamma")
            there = await session.scalar(select(func.clock_timestamp()))
        assert agent is not None
        assert agent.last_seen_at is not None
        assert there is not None
        assert 40 <= (there - agent.last_seen_at).total_seconds() < 100

    async def test_leaving_ends_the_reach_at_once(self, pair: Pair) -> None:
        async with pair.b.agent():
            await until_reachable(pair.a, "alpha")
        await wait_until(lambda: _gone(pair.a))
        answer = await pair.a.request(
            "POST",
            "/api/v1/probes",
            json={"nodes": ["alpha"], "tool": "ping", "target": "192.0.2.1"},
        )
        assert answer.json()["code"] == "probe_no_agent_online"

    async def test_without_the_tier_each_worker_knows_its_own(self, pair: Pair, kv: KeyValueServer) -> None:
        kv.stop()
        async with pair.b.agent():
            here = await pair.b.runs.link.reach(["alpha"])
            there = await pair.a.runs.link.reach(["alpha"])
        assert (here.nodes, there.nodes) == (frozenset({"alpha"}), frozenset())
        assert not there.certain

    async def test_a_socket_that_came_while_the_tier_was_away_is_known_once_it_is_back(
        self, pair: Pair, kv: KeyValueServer
    ) -> None:
        kv.stop()
        async with pair.b.agent():
            assert not await reachable(pair.a, "alpha")
            kv.start()
            await until_reachable(pair.a, "alpha")

    async def test_a_renewal_brings_back_what_the_tier_lost(self, pair: Pair, kv: KeyValueServer) -> None:
        async with pair.b.agent():
            await until_reachable(pair.a, "alpha")
            kv.flush()
            assert not await reachable(pair.a, "alpha")
            await pair.b.runs.link.roster.renew()
            assert await reachable(pair.a, "alpha")


async def _gone(stage: Stage) -> bool:
    return not await reachable(stage, "alpha")


class TestNewestConnection:
    """C1: an older socket's end never takes the newer one along."""

    async def test_the_older_one_is_closed_as_replaced(self, pair: Pair) -> None:
        async with pair.a.agent() as first, pair.b.agent():
            assert await first.closed() == CloseCode.REPLACED
            await until_reachable(pair.a, "alpha")
            assert await liveness(pair.a) == "online"
            assert await liveness(pair.b) == "online"
            assert not pair.a.runs.lost
            assert not pair.b.runs.lost

    async def test_only_the_end_of_the_newest_one_starts_the_grace(self, pair: Pair) -> None:
        async with pair.a.agent() as first:
            async with pair.b.agent():
                await first.closed()
            await wait_until(lambda: "alpha" in pair.b.runs.lost)
        assert "alpha" not in pair.a.runs.lost

    async def test_an_end_that_comes_late_changes_nothing(self, pair: Pair, kv: KeyValueServer) -> None:
        """The word that it was replaced never reached the older one: the tier was away."""
        kv.stop()
        async with pair.a.agent() as first, pair.b.agent():
            await first.close()
            await wait_until(lambda: not pair.a.runs.link.connections.all())
            kv.start()
            await until_reachable(pair.a, "alpha")
            assert await liveness(pair.a) == "online"
            assert "alpha" not in pair.a.runs.lost

    async def test_a_beat_of_the_older_one_does_not_name_it_again(self, pair: Pair) -> None:
        async with pair.a.agent() as first:
            older = pair.a.runs.link.connections.find("alpha")
            async with pair.b.agent():
                await first.closed()
                await pair.a.runs.link.roster.beat("alpha", older, None)
                live = await pair.a.resources.kv.get_json(AGENT_LIVE.key(node="alpha"))
                assert live["instance"] == pair.b.runs.link.roster.instance


class TestAgentTokens:
    async def test_a_reset_ends_the_socket_at_the_other_worker(self, pair: Pair) -> None:
        async with pair.b.agent() as agent:
            await until_reachable(pair.a, "alpha")
            answer = await pair.a.request("POST", "/api/v1/nodes/alpha/agent/reset", "admin")
            assert answer.status_code == 204
            assert await agent.closed() == CloseCode.UNAUTHENTICATED

    async def test_a_good_token_is_looked_up_once(self, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
        looks = count_looks(monkeypatch)
        for stage in (pair.a, pair.b, pair.a):
            assert await authenticate(stage) == "alpha"
        assert looks == [digest_of(pair.a.tokens["alpha"])]

    async def test_an_unknown_token_is_remembered_for_a_moment(
        self, pair: Pair, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looks = count_looks(monkeypatch)
        for _ in range(3):
            with pytest.raises(AgentTokenRefused):
                await pair.a.runs.link.authenticate("Bearer rlg_0123456789abcdef_" + "x" * 43)
        assert len(looks) <= 1

    async def test_b35_revoked_while_a_reader_fills(
        self, pair: Pair, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with looking_up_slowly(monkeypatch) as (reached, go_on):
            reading = asyncio.create_task(authenticate(pair.a))
            await reached.wait()
            await dismiss(pair.b)
            go_on.set()
            await asyncio.gather(reading, return_exceptions=True)
        for stage in (pair.a, pair.b):
            with pytest.raises(AgentTokenRefused):
                await authenticate(stage)

    async def test_revoked_without_the_cache(self, pair: Pair, cache: KeyValueServer) -> None:
        cache.stop()
        assert await authenticate(pair.a) == "alpha"
        await dismiss(pair.b)
        with pytest.raises(AgentTokenRefused):
            await authenticate(pair.a)


async def authenticate(stage: Stage) -> str:
    return await stage.runs.link.authenticate(f"Bearer {stage.tokens['alpha']}")


async def dismiss(stage: Stage) -> None:
    async with stage.resources.database.transaction() as session:
        await directory(session, stage.runs.link).dismiss("alpha")


def count_looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    looks: list[str] = []
    original = AgentRepository.find_live_token

    async def counted(repository: AgentRepository, digest: str) -> Any:
        looks.append(digest)
        return await original(repository, digest)

    monkeypatch.setattr(AgentRepository, "find_live_token", counted)
    return looks


@asynccontextmanager
async def looking_up_slowly(
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[tuple[asyncio.Event, asyncio.Event]]:
    """The first look-up stands still between its answer and whoever asked."""
    reached, go_on = asyncio.Event(), asyncio.Event()
    original = AgentRepository.find_live_token

    async def slow(repository: AgentRepository, digest: str) -> Any:
        found = await original(repository, digest)
        if not reached.is_set():
            reached.set()
            await go_on.wait()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(AgentRepository, "find_live_token", slow)
        yield reached, go_on
