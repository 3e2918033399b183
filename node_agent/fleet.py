"""The node's share in the fleet: applies what is published, looks at what runs, and says both."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from node_agent.apply.applier import Applier
from node_agent.apply.daemon import Switch, daemon_group
from node_agent.apply.files import ConfigurationPlaces
from node_agent.apply.keys import OwnKeys, load_keys
from node_agent.apply.passes import Host
from node_agent.apply.store import ApplyStore
from node_agent.collect.host import boot_id
from node_agent.collect.routes import RouteWatch
from node_agent.collect.snapshot import Snapshots
from node_agent.collect.traffic import TrafficWatch
from node_agent.connection.pulling import Puller
from node_agent.connection.reports import Reports
from shared.kernel.clock import utc_now
from shared.kernel.ids import short_id
from shared.protocol.frames import ApplyStatus

if TYPE_CHECKING:
    from node_agent.settings import AgentSettings

log = structlog.get_logger(__name__)

#: Between two snapshots that nobody asked for.
SNAPSHOT_SECONDS = 300.0
#: However often one is asked for, the host is looked at no more often than this.
_LEAST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Fleet:
    """What the conversation with the server needs of it."""

    keys: OwnKeys
    reports: Reports
    applier: Applier
    snapshots: Snapshots
    asked: asyncio.Event
    routes: RouteWatch
    traffic: TrafficWatch

    async def run(self) -> None:
        """Apply and look until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.applier.run(), name="applier")
            group.create_task(self._look(), name="snapshots")
            group.create_task(self.routes.run(), name="routes")
            group.create_task(self.traffic.run(), name="traffic")

    def request_snapshot(self) -> None:
        """Look soon."""
        self.asked.set()

    @property
    def status(self) -> ApplyStatus:
        """What a heartbeat says of the last pass."""
        if self.applier.idle:
            return ApplyStatus.NONE
        return ApplyStatus(self.applier.state.value)

    async def _look(self) -> None:
        while True:
            self.asked.clear()
            self.reports.put(await self.snapshots.take())
            await asyncio.sleep(_LEAST_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SNAPSHOT_SECONDS):
                    await self.asked.wait()


def open_fleet(settings: AgentSettings) -> Fleet:
    """Everything from the settings. Raises StateDirectoryUnusable."""
    keys, reports, asked = load_keys(settings.state_directory), Reports(), asyncio.Event()
    puller = Puller(settings)
    host = Host(
        places=ConfigurationPlaces(
            settings.bird_directory, settings.bird_local_directory, daemon_group(settings.bird_socket)
        ),
        store=ApplyStore(settings.state_directory),
        keys=keys,
        switch=Switch(settings.bird_socket, puller.reachable, settings.confirm_seconds),
        now=utc_now,
    )

    async def look_again() -> None:
        asked.set()

    applier = Applier(
        host=host,
        pull=puller.pull,
        report=reports.put,
        after_pass=look_again,
        pull_seconds=settings.pull_seconds,
        pass_seconds=settings.pass_seconds,
    )
    stream = short_id()
    return Fleet(
        keys=keys,
        reports=reports,
        applier=applier,
        snapshots=Snapshots(settings.bird_socket, utc_now),
        asked=asked,
        routes=RouteWatch(
            settings.bird_socket, reports, utc_now, stream=stream, most=settings.greatest_table
        ),
        traffic=TrafficWatch(reports, utc_now, stream=stream, boot_id=boot_id()),
    )
