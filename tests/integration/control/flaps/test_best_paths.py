"""Prefix reports of an agent, as the keeper of tables takes them, charge prefixes."""

from datetime import datetime, timedelta

import pytest

from control_server.flaps import tasks
from control_server.routing.dependencies import table_keeper
from shared.protocol.reports import PrefixReport, Route, Validity, pack_changes
from tests.integration.control.flaps.stage import Stage

PREFIX = "172.20.0.0/24"


def route(path: str, at: datetime) -> Route:
    origin = int(path.rsplit(maxsplit=1)[-1])
    return Route(
        protocol="f",
        ordinal=0,
        best=True,
        filtered=False,
        reason=None,
        origin=origin,
        path=path,
        hops=len(path.split()),
        validity=Validity.VALID,
        next_hop="fe80::1",
        local_pref=100,
        since=at,
    )


class Reporter:
    """The agent of a node, as far as its tables go."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.keeper = table_keeper(stage.resources, tasks.best_paths(stage.resources))
        self.sequence = 0

    async def tell(self, *paths: str, begins: bool = False) -> PrefixReport:
        """The one prefix has these paths now, the first of which is best; none: it is gone."""
        self.stage.clock.turn(timedelta(seconds=60))
        now = self.stage.clock()
        routes = [route(path, now) for path in paths]
        self.sequence += 1
        report = PrefixReport(
            stream="one",
            sequence=self.sequence,
            base=self.sequence - 1,
            begins=begins,
            taken_at=now,
            count=1,
            payload=pack_changes([(PREFIX, routes)]),
        )
        answer = await self.keeper.take("r1", report)
        assert not answer.resynchronise
        return report


async def test_changes_of_the_best_path_are_charged_and_first_sights_are_not(stage: Stage) -> None:
    reporter = Reporter(stage)
    begin = stage.clock()
    await reporter.tell("4242429901", begins=True)
    assert await stage.score(PREFIX) == 0
    report = await reporter.tell("4242429902 4242429901")
    assert await stage.score(PREFIX) == pytest.approx(500)
    await reporter.keeper.take("r1", report)
    assert await stage.score(PREFIX) == pytest.approx(500), "what comes twice is charged once"
    await reporter.tell()
    await reporter.tell("4242429901")
    found = (await stage.flaps.prefix("r1", PREFIX)).now
    assert found.score == pytest.approx(500 * 2 ** (-120 / 1800) + 1000 * 2 ** (-60 / 1800), abs=0.5)
    assert found.events == 2
    rates = await stage.flaps.rates("r1", begin)
    assert sum(rate.withdrawals for rate in rates) == 1
    assert sum(rate.seconds for rate in rates) == 180
