"""The agent process: one event loop that holds the link, the probes and the readings of the host."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

import structlog

from node_agent import state
from node_agent.collect.capabilities import find_capabilities
from node_agent.collect.collection import Collection
from node_agent.collect.host import boot_id, own_addresses
from node_agent.connection.conversation import Ground
from node_agent.connection.link import AgentLink, Dialling
from node_agent.errors import NotEnrolled
from node_agent.fleet import Fleet, open_fleet
from node_agent.probes.commands import TOOL_DIRECTORIES
from node_agent.probes.desk import ProbeDesk
from node_agent.probes.outbox import Outbox
from node_agent.probes.resolving import Chooser
from node_agent.probes.running import Surroundings
from shared import __version__
from shared.kernel.tasks import end
from shared.protocol.frames import AgentHello

if TYPE_CHECKING:
    from node_agent.settings import AgentSettings

log = structlog.get_logger(__name__)

_FLUSH_SECONDS = 0.5


def default_surroundings() -> Surroundings:
    """The host as it is."""
    return Surroundings(chooser=Chooser(), own_addresses=own_addresses, tool_directories=TOOL_DIRECTORIES)


async def run(
    settings: AgentSettings,
    *,
    surroundings: Surroundings | None = None,
    collection: Collection | None = None,
    dialling: Dialling | None = None,
) -> None:
    """Run the agent until cancelled; then every tool is gone and the server has heard of it.

    Raises AgentAlreadyRunning, StateDirectoryUnusable, or NotEnrolled when there is no token yet.
    """
    state.prepare(settings.state_directory)
    with state.locked(settings.state_directory, settings.purpose):
        if state.read_text(settings.token_path) is None:
            raise NotEnrolled
        surroundings = surroundings or default_surroundings()
        outbox = Outbox(settings.unsent_bytes)
        fleet = open_fleet(settings)
        ground = Ground(
            hello=AgentHello(
                agent_version=__version__,
                boot_id=boot_id(),
                capabilities=await find_capabilities(surroundings.tool_directories),
                keys=fleet.keys.public,
            ),
            desk=ProbeDesk(settings, outbox, surroundings),
            outbox=outbox,
            collection=collection or Collection(),
            fleet=fleet,
        )
        await _serve(AgentLink(settings, ground, dialling), ground)


async def _serve(link: AgentLink, ground: Ground) -> None:
    log.info("agent.started", version=__version__, tools=sorted(ground.hello.capabilities.tools))
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGHUP, link.wake)
    collecting = asyncio.create_task(ground.collection.run(), name="collection")
    applying = asyncio.create_task(_apply(ground.fleet), name="fleet")
    linking = asyncio.create_task(link.run(), name="link")
    try:
        # Not awaited itself: a cancelled wait must leave the link up for the last words.
        await asyncio.wait({linking})
        linking.result()
    finally:
        collecting.cancel()
        applying.cancel()
        await ground.desk.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FLUSH_SECONDS):
                await link.flush()
        await end(collecting, applying, linking)
        log.info("agent.stopped")


async def _apply(fleet: Fleet | None) -> None:
    if fleet is None:
        return
    try:
        await fleet.run()
    except Exception:
        # The agent still probes and says that it lives; what it last applied runs on.
        log.exception("agent.fleet_failed")


async def main(settings: AgentSettings) -> None:
    """Run as a program does: SIGTERM and SIGINT end it cleanly, SIGHUP makes it reconnect at once."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine that runs has a task
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    # One that comes before the link is there must not end the process, which is what it does by default.
    loop.add_signal_handler(signal.SIGHUP, lambda: None)
    try:
        await run(settings)
    except asyncio.CancelledError:
        return
