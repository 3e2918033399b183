"""What is wrong on this host, and how to mend it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2

from node_agent import state
from node_agent.apply import daemon
from node_agent.apply.commands import HostTool, find_tool
from node_agent.apply.files import ConfigurationPlaces
from node_agent.apply.store import ApplyStore
from node_agent.bird.client import conversing
from shared.kernel import interrupts
from shared.kernel.errors import AppError

if TYPE_CHECKING:
    from node_agent.settings import AgentSettings

_BOOT = Path("/etc/bird/bird.conf")
_SECONDS = 5.0
_SKEW = timedelta(seconds=30)
_PRIVATE = 0o077
_SWITCHES = {
    Path("/proc/sys/net/ipv4/ip_forward"): ("1", "sysctl -w net.ipv4.ip_forward=1"),
    Path("/proc/sys/net/ipv6/conf/all/forwarding"): ("1", "sysctl -w net.ipv6.conf.all.forwarding=1"),
    Path("/proc/sys/net/ipv4/conf/all/rp_filter"): ("0", "sysctl -w net.ipv4.conf.all.rp_filter=0"),
}
_PACKAGES = {HostTool.IP: "iproute2", HostTool.WG: "wireguard-tools", HostTool.BIRD: "bird2"}


class Grade(StrEnum):
    """How much a finding matters."""

    GOOD = "good"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; a remedy where it is not good."""

    grade: Grade
    text: str
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        """For `--json`."""
        return {name: str(value) for name, value in asdict(self).items()}


async def examine(settings: AgentSettings) -> list[Finding]:
    """Look at everything; changes nothing on the host."""
    found = [*_rights(), *_tools(), *_state_directory(settings), *_kernel()]
    found += [finding async for finding in _bird(settings)]
    found += [finding async for finding in _server(settings)]
    return found


def _rights() -> Iterator[Finding]:
    if os.geteuid() == 0:
        yield Finding(Grade.GOOD, "runs as root")
    else:
        remedy = "run the agent as root, or give it CAP_NET_ADMIN and the rights to BIRD's directories"
        yield Finding(Grade.NOTE, "does not run as root: it may watch and probe, and change nothing", remedy)


def _tools() -> Iterator[Finding]:
    for tool, package in _PACKAGES.items():
        if find_tool(tool) is not None:
            yield Finding(Grade.GOOD, f"{tool} is installed")
        else:
            yield Finding(Grade.PROBLEM, f"{tool} is not installed", f"apt-get install {package}")
    if not Path("/sys/module/wireguard").exists() and find_tool(HostTool.WIREGUARD_GO) is None:
        remedy = "modprobe wireguard, or apt-get install wireguard-go"
        yield Finding(Grade.NOTE, "neither the kernel nor wireguard-go makes WireGuard tunnels", remedy)


def _state_directory(settings: AgentSettings) -> Iterator[Finding]:
    directory = settings.state_directory
    try:
        mode = directory.stat().st_mode
    except OSError as error:
        remedy = "enrol the agent: `routeloom agent enrol`"
        yield Finding(Grade.PROBLEM, f"{directory} cannot be read: {error.strerror}", remedy)
        return
    if mode & _PRIVATE:
        yield Finding(Grade.PROBLEM, f"others may look into {directory}", f"chmod 700 {directory}")
    if state.lock_holder(directory) is None:
        yield Finding(Grade.NOTE, "no agent runs on this state directory", "routeloom agent run")
    store = ApplyStore(directory)
    if store.paused:
        yield Finding(Grade.NOTE, "the agent is paused and changes nothing", "routeloom agent resume")
    wanted, achieved = store.desired(), store.achieved()
    if wanted is not None and wanted.generation != achieved.generation:
        text = f"generation {wanted.generation} is wanted, {achieved.generation or 'none'} was applied"
        yield Finding(Grade.NOTE, text, "the agent's log says what it waits for")


def _kernel() -> Iterator[Finding]:
    for path, (wanted, remedy) in _SWITCHES.items():
        try:
            value = path.read_text().strip()
        except OSError:
            continue
        if value != wanted:
            yield Finding(Grade.NOTE, f"{path} is {value}; a router needs {wanted}", remedy)


async def _bird(settings: AgentSettings) -> AsyncIterator[Finding]:
    try:
        async with conversing(settings.bird_socket, restricted=True, seconds=_SECONDS) as conversation:
            running = await daemon.look(conversation)
    except AppError as error:
        yield Finding(Grade.PROBLEM, error.detail, "systemctl start bird; or set ROUTELOOM_AGENT_BIRD_SOCKET")
        return
    identity = running.identity or "a configuration that is not ours"
    yield Finding(Grade.GOOD, f"BIRD {running.version} answers and runs {identity}")
    places = ConfigurationPlaces(settings.bird_directory, settings.bird_local_directory)
    boots_with = f'include "{places.current}/main.conf";'
    boot = _text(_BOOT)
    if boot and boots_with not in boot:
        remedy = f"let {_BOOT} hold the one line: {boots_with}"
        yield Finding(Grade.NOTE, "after a restart BIRD would not boot with what was applied", remedy)


async def _server(settings: AgentSettings) -> AsyncIterator[Finding]:
    try:
        async with httpx2.AsyncClient(timeout=_SECONDS, trust_env=not settings.server_is_local) as client:
            answer = await client.get(f"{settings.server_url}/livez")
    except httpx2.HTTPError as error:
        remedy = "check ROUTELOOM_AGENT_SERVER_URL, name resolution, routes and firewalls"
        yield Finding(Grade.PROBLEM, f"{settings.server_url} does not answer: {type(error).__name__}", remedy)
        return
    yield Finding(Grade.GOOD, f"{settings.server_url} answers")
    if (date := answer.headers.get("date")) is not None:
        skew = datetime.now(UTC) - parsedate_to_datetime(date)
        if abs(skew) > _SKEW:
            text = f"this host's clock differs from the server's by {skew.total_seconds():.0f} s"
            yield Finding(Grade.PROBLEM, text, "let NTP set both clocks")


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def run(settings: AgentSettings) -> list[Finding]:
    """`examine` for a program."""
    return interrupts.run(examine(settings))
