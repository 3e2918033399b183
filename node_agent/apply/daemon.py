"""BIRD takes a new configuration, and proves it, or goes on with the last good one."""

from __future__ import annotations

import asyncio
import grp
import os
import pwd
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import structlog

from node_agent.apply.commands import HostTool, run
from node_agent.apply.errors import (
    ConfigurationNotRunning,
    ConfigurationRefused,
    ControllerLost,
    HostCommandFailed,
)
from node_agent.bird.client import BirdConversation, conversing
from node_agent.bird.errors import BirdRefused
from node_agent.bird.framing import Reply
from node_agent.bird.protocols import ProtocolState as BirdProtocol
from node_agent.bird.protocols import read_protocols
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError
from shared.rendering.versions import BirdVersion

log = structlog.get_logger(__name__)

#: What is not confirmed within this time is undone by BIRD itself, whatever becomes of the agent.
WINDOW_SECONDS = 60
_STATUS_SECONDS = 45.0
_BETWEEN_SECONDS = 0.1
_IDLE = re.compile(r"^Daemon is up and running")
_RUNNING_CODE = 3
_SYMBOL_CODE = 23

#: Whether the controller answers over a connection of its own.
ReachController = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Running:
    """What a daemon says of itself."""

    version: BirdVersion
    #: `RL_CONFIG` of what is committed; None when it is not ours.
    identity: str | None
    local: str | None
    #: Whether a configuration waits for its confirmation.
    unconfirmed: bool


async def look(conversation: BirdConversation) -> Running:
    """Ask a daemon who it is. Raises as `BirdConversation.ask`."""
    status = await conversation.command("show status")
    pending = await conversation.ask("configure status")
    return Running(
        version=BirdVersion.parse(status.texts(1000)[0] if status.texts(1000) else status.text),
        identity=await _symbol(conversation, "RL_CONFIG"),
        local=await _symbol(conversation, "RL_LOCAL"),
        unconfirmed="undo in" in pending.text,
    )


async def protocols(conversation: BirdConversation, now: Clock) -> list[BirdProtocol]:
    """All protocols with their details. Raises as `BirdConversation.ask`."""
    reply = await conversation.command("show protocols all")
    return read_protocols(reply, local_time(now))


def local_time(now: Clock) -> datetime:
    """The time as BIRD prints it: in the zone of this host."""
    return now().astimezone()


async def validate(main: Path, socket: Path) -> None:
    """Let a process with the daemon's rights parse the files. Raises ConfigurationRefused in BIRD's words.

    Parsed as root, files pass that the daemon then cannot read. The control socket's owner is the daemon's.
    """
    try:
        await run(HostTool.BIRD, ("-p", "-c", str(main), *_daemon_rights(socket)))
    except HostCommandFailed as error:
        raise ConfigurationRefused(f"bird -p refused the configuration: {error.detail}") from error


@dataclass(frozen=True, slots=True)
class Switch:
    """Takes a daemon from what runs to one configuration."""

    socket: Path
    reach_controller: ReachController
    window_seconds: int = WINDOW_SECONDS

    async def take(self, main: Path, identity: str) -> list[str]:
        """Make BIRD run `identity`; answers what was done.

        Raises ConfigurationRefused, ConfigurationNotRunning or ControllerLost, after each of which the
        configuration from before runs, and the errors of the control socket.
        """
        async with conversing(self.socket) as conversation:
            before = await look(conversation)
            if before.unconfirmed:
                # A window that an agent before us left open: nothing but its end may be asked for.
                await conversation.command("configure undo")
                await _settled(conversation)
            reply = await conversation.ask(f'configure "{main}" timeout {self.window_seconds}')
            if reply.failed:
                raise ConfigurationRefused(f"BIRD refused the configuration: {_words(reply)}")
            try:
                await self._prove(conversation, identity)
            except AppError:
                await _undo(conversation)
                raise
            await conversation.command("configure confirm")
            # A confirmation that came too late confirms nothing: BIRD has gone back by itself.
            await _check_running(conversation, identity)
        return [f"configured {identity}"]

    async def _prove(self, conversation: BirdConversation, identity: str) -> None:
        await _settled(conversation)
        await _check_running(conversation, identity)
        if not await self.reach_controller():
            raise ControllerLost

    async def go_back(self, main: Path, identity: str) -> None:
        """Run the last good configuration again, without a window. Raises as `take`."""
        async with conversing(self.socket) as conversation:
            reply = await conversation.ask(f'configure "{main}"')
            if reply.failed:
                raise ConfigurationRefused(f"BIRD refused the last good configuration: {_words(reply)}")
            await _settled(conversation)
            await _check_running(conversation, identity)

    async def reload(self, sessions: Sequence[str]) -> list[str]:
        """Run the import filters of these sessions anew; answers what was done. Raises as `ask`."""
        if not sessions:
            return []
        async with conversing(self.socket) as conversation:
            version = (await look(conversation)).version
            verb = "reload filters in" if version.reloads_filters else "reload in"
            for session in sessions:
                # One that is down imports nothing, and everything once it is up.
                with suppress(BirdRefused):
                    await conversation.command(f'{verb} "{session}"')
        return [f"reloaded {session}" for session in sessions]


async def _symbol(conversation: BirdConversation, name: str) -> str | None:
    """A constant of the committed configuration; None where it is unknown: the configuration is not ours."""
    reply = await conversation.ask(f"eval {name}")
    if reply.code != _SYMBOL_CODE:
        return None
    return reply.lines[-1].text.strip().strip('"')


async def _check_running(conversation: BirdConversation, identity: str) -> None:
    """What is committed, read back from the daemon. Raises ConfigurationNotRunning."""
    running = await _symbol(conversation, "RL_CONFIG")
    if running != identity:
        raise ConfigurationNotRunning(f"BIRD runs {running or 'another configuration'}, not {identity}.")


async def _settled(conversation: BirdConversation) -> None:
    """Wait until no protocol is still on its way. Raises ConfigurationNotRunning."""
    try:
        async with asyncio.timeout(_STATUS_SECONDS):
            while True:
                reply = await conversation.ask("configure status")
                if any(line.code == _RUNNING_CODE and _IDLE.match(line.text) for line in reply.lines):
                    return
                await asyncio.sleep(_BETWEEN_SECONDS)
    except TimeoutError:
        detail = f"BIRD was still reconfiguring after {_STATUS_SECONDS:.0f} s."
        raise ConfigurationNotRunning(detail) from None


async def _undo(conversation: BirdConversation) -> None:
    # If even this fails, BIRD undoes by itself when the window ends.
    try:
        await conversation.command("configure undo")
        await _settled(conversation)
    except AppError as error:
        log.warning("bird.undo_failed", error=error.detail)


def _words(reply: Reply) -> str:
    return "; ".join(line.text.strip() for line in reply.lines if line.text.strip())


def daemon_group(socket: Path) -> int | None:
    """The group that has to be able to read the files; None where the daemon has the agent's own."""
    with suppress(OSError):
        found = socket.stat()
        return found.st_gid if found.st_uid != os.geteuid() else None
    return None


def _daemon_rights(socket: Path) -> tuple[str, ...]:
    with suppress(OSError, KeyError):
        found = socket.stat()
        if found.st_uid != os.geteuid():
            return ("-u", pwd.getpwuid(found.st_uid).pw_name, "-g", grp.getgrgid(found.st_gid).gr_name)
    return ()
