"""Valkey and Redis killed, emptied, restarted and frozen in mid-day: it ends as an undisturbed day ends.

What may differ follows from the key index. Scores begin at nothing when their only copy is lost; so does
what sessions are compared with, so that nobody sees a fall between the two snapshots around the loss; and the
first report of prefixes after it counts no rate. All else is the same, and no request meets an error.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from routeloom.simulate.plan import PREFIXES_EVERY, SNAPSHOT_EVERY, Fault, FaultKind, Plan, schedule
from shared.cache import TierUnavailable
from shared.testing.servers import KeyValueServer, redis_server, valkey_server
from shared.testing.waiting import wait_until
from tests.integration.simulation.conftest import Opening, Stage, differing
from tests.integration.simulation.remains import (
    Remains,
    added,
    every_path,
    missing,
    remains_of,
    scored_before,
    scores,
    uncounted,
)

SHORT = Plan(nodes=2, sessions=4, prefixes=30, hours=0.45, seed=5)
FAULTS = [
    Fault(100, 0, FaultKind.SESSION_DROP, subject=2, lasts=20),
    Fault(130, 1, FaultKind.DAEMON_RESTART, lasts=12),
    Fault(250, 0, FaultKind.SESSION_DROP, subject=1, lasts=100),
    Fault(340, 1, FaultKind.SESSION_DROP, subject=0, lasts=150),
    Fault(450, 0, FaultKind.NODE_DROP, lasts=60),
    Fault(700, 1, FaultKind.COUNTER_RESET, subject=1),
    Fault(1220, 0, FaultKind.SESSION_DROP, subject=2, lasts=20),
    Fault(1240, 1, FaultKind.SESSION_DROP, subject=3, lasts=200),
]
#: Whatever leaves an agent connected: a cached health speaks of one that is away for ten seconds of real
#: time, which here are minutes.
KINDS = frozenset(FaultKind) - {FaultKind.AGENT_AWAY, FaultKind.AGENT_CUT, FaultKind.AGENT_RESTART}
DAY = Plan(nodes=2, sessions=5, prefixes=100, hours=24, seed=23, faults=KINDS)
#: Every so many seconds of a disturbed day a third of everything is asked for.
ASK_EVERY = 60
#: Longer than most pauses of a busy machine: how long an answer may take is shown elsewhere.
DEADLINE = timedelta(seconds=1)


@dataclass
class Tiers:
    """The servers of both tiers."""

    kv: KeyValueServer
    cache: KeyValueServer
    frozen: bool = False

    @property
    def both(self) -> tuple[KeyValueServer, KeyValueServer]:
        return self.kv, self.cache

    @property
    def well(self) -> bool:
        return not self.frozen and all(server.running for server in self.both)

    def settings(self) -> Mapping[str, object]:
        return {
            name: {"url": server.url, "deadline": DEADLINE}
            for name, server in (("kv", self.kv), ("cache", self.cache))
        }

    def kill(self, *servers: KeyValueServer) -> None:
        """End at once. What was not saved is not there when it starts."""
        for server in servers:
            server.kill()
            (server.directory / "dump.rdb").unlink(missing_ok=True)

    def start(self, *servers: KeyValueServer) -> None:
        for server in servers:
            server.start()

    def restart(self) -> None:
        """In order: Valkey keeps what it had."""
        for server in self.both:
            server.stop()
            server.start()

    def empty(self) -> None:
        """Forget everything, and go on."""
        for server in self.both:
            server.flush()

    def freeze(self) -> None:
        self.frozen = True
        for server in self.both:
            server.pause()

    def thaw(self) -> None:
        self.frozen = False
        for server in self.both:
            server.resume()


def weather(tiers: Tiers) -> dict[int, Callable[[], None]]:
    """What befalls the tiers, by the second. Snapshots come at 300, 600 and so on."""
    return {
        330: lambda: tiers.kill(tiers.cache),
        390: lambda: tiers.start(tiers.cache),
        420: tiers.restart,
        510: tiers.freeze,
        540: tiers.thaw,
        630: lambda: tiers.kill(tiers.kv),
        720: lambda: tiers.start(tiers.kv),
        930: tiers.empty,
        990: lambda: tiers.kill(*tiers.both),
        1080: lambda: tiers.start(*tiers.both),
    }


#: In these rounds of snapshots the only copy of how sessions stood is lost.
LOST_ROUNDS = ((600, 900), (900, 1200))
#: Reports of prefixes that had nothing to be compared with: after 510, 630, 930 and 990.
UNCOUNTED = 4
PERIOD = 5400


@pytest.fixture
def tiers(tmp_path: Path) -> Iterator[Tiers]:
    with valkey_server(tmp_path / "kv") as kv, redis_server(tmp_path / "cache") as cache:
        yield Tiers(kv, cache)


@dataclass
class Day:
    """One day against one server, of which everything is asked while it goes on."""

    stage: Stage
    tiers: Tiers
    befalls: Mapping[int, Callable[[], None]] = field(default_factory=dict)
    #: What may have gone unseen, in the words of the comparison.
    unseen: frozenset[str] = frozenset()
    remains: Remains | None = None

    async def pass_by(self) -> Remains:
        self.stage.simulation.told = self._told
        headers = {"Authorization": f"Bearer {self.stage.server.token}"}
        async with httpx2.AsyncClient(
            base_url=self.stage.server.url, headers=headers, timeout=60, trust_env=False
        ) as api:
            self._api = api
            findings = await self.stage.simulation.run()
        wrong = differing(findings)
        assert [found for found in wrong if found.what not in self.unseen] == []
        assert self.remains is not None
        return self.remains

    async def _told(self, at: int) -> None:
        if at in self.befalls:
            self.befalls[at]()
            await wait_until(self._knows_how_they_are)
        if self.befalls and at and at % ASK_EVERY == 0:
            await self._ask(at)
        if at == self.stage.simulation.plan.seconds:
            await self.stage.server.watch()
            self.remains = await remains_of(self._api, self.stage.simulation.plan)

    async def _knows_how_they_are(self) -> bool:
        """Whether tiers that are there are used again: what is away in real time is away for hours here."""
        resources = self.stage.server.resources
        assert resources is not None
        if self.tiers.well:
            try:
                await asyncio.gather(resources.kv.server_time(), resources.cache.server_time())
            except TierUnavailable:
                return False
        return True

    async def _ask(self, at: int) -> None:
        for path in every_path(self.stage.simulation.plan)[at // ASK_EVERY % 3 :: 3]:
            answer = await self._api.get(path)
            assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"


#: Of which a day that lost its tiers may know less.
FALLS = frozenset({"flaps", "falls of most sessions"})
Living = Callable[[Plan, Mapping[int, Callable[[], None]]], Awaitable[Remains]]


@pytest.fixture
def lived(opened: Opening, tiers: Tiers) -> Living:
    """A day from its beginning, on empty tiers."""

    async def living(plan: Plan, befalls: Mapping[int, Callable[[], None]]) -> Remains:
        tiers.empty()
        unseen = frozenset() if plan is SHORT or not befalls else FALLS
        async with opened(plan, tiers.settings()) as stage:
            stage.simulation.faults = FAULTS if plan is SHORT else schedule(plan)
            return await Day(stage, tiers, befalls, unseen).pass_by()

    return living


def assert_nothing_is_lost_but_scores(
    undisturbed: Remains, disturbed: Remains, uncounted_reports: int
) -> None:
    for path, answer in undisturbed.kept.items():
        assert disturbed.kept[path] == answer, path
    assert disturbed.flapping <= undisturbed.flapping
    assert not added(undisturbed, disturbed)
    for node, seconds in uncounted(undisturbed, disturbed).items():
        assert seconds <= uncounted_reports * PREFIXES_EVERY, node


async def test_an_hour_without_its_tiers_ends_as_one_with_them(lived: Living, tiers: Tiers) -> None:
    undisturbed = await lived(SHORT, {})
    disturbed = await lived(SHORT, weather(tiers))
    assert_nothing_is_lost_but_scores(undisturbed, disturbed, UNCOUNTED)
    assert not missing(undisturbed, disturbed)
    lost_at = SHORT.start + timedelta(seconds=LOST_ROUNDS[0][0])
    whole = scored_before(undisturbed, lost_at)
    assert len(whole) > 1
    assert scored_before(disturbed, lost_at) == whole
    # The loss is real: the second fall of one session is the first that is known of.
    fallen = {"node_id": "sim001", "subject": "peer03"}
    assert [round(score) for score in scores(disturbed, fallen)] == [1000, 1000]
    assert [round(score) for score in scores(undisturbed, fallen)] == [1000, 1650]


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_a_day_without_its_tiers_ends_as_one_with_them(lived: Living, tiers: Tiers) -> None:
    undisturbed = await lived(DAY, {})
    begins = range(0, DAY.seconds - PERIOD, PERIOD)
    befalls = {begin + at: act for begin in begins for at, act in weather(tiers).items()}
    disturbed = await lived(DAY, befalls)
    assert_nothing_is_lost_but_scores(undisturbed, disturbed, UNCOUNTED * len(begins))
    rounds = [(begin + first, begin + last) for begin in begins for first, last in LOST_ROUNDS]
    for at in missing(undisturbed, disturbed):
        second = (at - DAY.start).total_seconds()
        # Agents that were restarted have their snapshots at other times: a round may be one longer.
        assert any(first - SNAPSHOT_EVERY <= second <= last + SNAPSHOT_EVERY for first, last in rounds), at
