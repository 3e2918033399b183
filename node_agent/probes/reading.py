"""How each tool's output is shown and summed up."""

from __future__ import annotations

from typing import Any, Protocol

from node_agent.probes.mtr_live import MtrLive
from node_agent.probes.summaries.ping import parse_ping
from node_agent.probes.summaries.traceroute import parse_traceroute
from shared.protocol.probes import Tool


class Reading(Protocol):
    """Follows one tool's standard output."""

    def feed(self, line: str) -> list[str]:
        """The lines to show for this one."""

    def finish(self, *, complete: bool) -> list[str]:
        """What there is still to show; `complete` when the tool ended by itself."""

    def summary(self, *, complete: bool) -> dict[str, Any]:
        """The parsed result."""


class _AsPrinted:
    """Shows the lines as the tool prints them, and parses them at the end."""

    def __init__(self, tool: Tool) -> None:
        self._parse = parse_ping if tool is Tool.PING else parse_traceroute
        self._lines: list[str] = []

    def feed(self, line: str) -> list[str]:
        self._lines.append(line)
        return [line]

    def finish(self, *, complete: bool) -> list[str]:  # noqa: ARG002 - part of the protocol
        return []

    def summary(self, *, complete: bool) -> dict[str, Any]:  # noqa: ARG002 - part of the protocol
        return self._parse(self._lines)


def reading_of(tool: Tool, address: str) -> Reading:
    """The reading of one run of the tool against one address."""
    return MtrLive(address) if tool is Tool.MTR else _AsPrinted(tool)
