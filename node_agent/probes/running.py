"""One probe from its target's text to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from node_agent.probes import commands
from node_agent.probes.outbox import Parcel
from node_agent.probes.processes import Cause, Ended, ToolProcess
from node_agent.probes.reading import Reading, reading_of
from node_agent.probes.resolving import Choice, Chooser, TargetUnresolved
from shared.kernel.targets import Address, TargetInvalid, TargetPolicy, TargetRefused, parse_target
from shared.protocol.frames import ProbeAccepted, ProbeDone, ProbeStart
from shared.protocol.probes import OutputStream, ProbeLimits, ProbeReason

if TYPE_CHECKING:
    from shared.kernel.errors import AppError

log = structlog.get_logger(__name__)

_REASON_OF_CAUSE = {
    Cause.DEADLINE: ProbeReason.DEADLINE,
    Cause.OVERFLOW: ProbeReason.OUTPUT_LIMIT,
    Cause.CANCELLED: ProbeReason.CANCELLED,
}
_DETAIL_LENGTH = 1024


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a probe needs of its node."""

    chooser: Chooser
    own_addresses: Callable[[], frozenset[Address]]
    tool_directories: Sequence[str] = commands.TOOL_DIRECTORIES


class _Refused(Exception):
    def __init__(self, reason: ProbeReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class ProbeRun:
    """Runs one tool for one probe; its lines and its one end go into the parcel."""

    def __init__(
        self, wanted: ProbeStart, limits: ProbeLimits, parcel: Parcel, surroundings: Surroundings
    ) -> None:
        self._wanted = wanted
        self._limits = limits
        self._parcel = parcel
        self._surroundings = surroundings
        self._budget = _Budget(limits)
        self._process: ToolProcess | None = None
        self._cancelled = asyncio.Event()
        self._last_error = ""
        self._cancel_detail = ""
        self.has_room: Callable[[], bool] = lambda: True

    def cancel(self, detail: str = "") -> None:
        """Ask for an early end; the parcel then gets `cancelled`."""
        self._cancel_detail = detail
        self._cancelled.set()
        if self._process is not None:
            self._process.stop(Cause.CANCELLED)

    async def run(self) -> None:
        """Run to the end. Whatever happens, the parcel gets exactly one `probe_done`."""
        try:
            done = await self._attempt()
        except _Refused as refused:
            done = self._done(error=refused.reason, detail=refused.detail)
        except Exception as error:
            log.exception("probe.failed", probe=str(self._wanted.probe_id))
            detail = f"The agent could not run the tool: {type(error).__name__}."
            done = self._done(error=ProbeReason.TOOL_FAILED, detail=detail)
        except BaseException:
            # The agent itself is ending; the process group is gone already.
            self._parcel.finish(self._done(error=ProbeReason.CANCELLED, detail="The agent was stopped."))
            raise
        self._parcel.finish(done)
        log.info("probe.ended", probe=str(done.probe_id), error=done.error, exit_code=done.exit_code)

    async def _attempt(self) -> ProbeDone:
        choice = await self._choose()
        command = self._command(choice)
        if self._cancelled.is_set():
            raise _Refused(ProbeReason.CANCELLED, "Cancelled before the tool was started.")
        try:
            self._process = await ToolProcess.start(command, self._limits.line_bytes)
        except OSError as error:
            raise _Refused(
                ProbeReason.TOOL_FAILED, f"The tool cannot be started: {error.strerror}."
            ) from None
        self._parcel.accept(
            ProbeAccepted(probe_id=self._wanted.probe_id, command=str(command), address=str(choice.address))
        )
        if self._cancelled.is_set():
            self._process.stop(Cause.CANCELLED)
        for note in choice.notes:
            self._say(OutputStream.NOTE, note)
        reading = reading_of(self._wanted.tool, str(choice.address))
        ended = await self._process.run(self._taker(reading), self._limits.seconds)
        return self._conclude(reading, ended, command)

    async def _choose(self) -> Choice:
        rules = self._wanted.targets
        try:
            own = self._surroundings.own_addresses()
            policy = TargetPolicy(allow=rules.allow, deny=rules.deny, own=own)
            target = parse_target(self._wanted.target)
            return await self._surroundings.chooser.choose(target, self._wanted.options.family, policy)
        except (TargetInvalid, TargetRefused) as refusal:
            raise _refused(ProbeReason.TARGET_REFUSED, refusal) from None
        except TargetUnresolved as refusal:
            raise _refused(ProbeReason.TARGET_UNRESOLVED, refusal) from None

    def _command(self, choice: Choice) -> commands.Command:
        tool = self._wanted.tool
        executable = commands.find_executable(tool, self._surroundings.tool_directories)
        if executable is None:
            raise _Refused(ProbeReason.TOOL_MISSING, f"{tool.value} is not installed on this node.")
        return commands.build(executable, tool, choice.address, self._wanted.options, self._limits.seconds)

    def _taker(self, reading: Reading) -> Callable[[OutputStream, str], bool]:
        def take(stream: OutputStream, text: str) -> bool:
            if stream is OutputStream.STDERR:
                self._last_error = text or self._last_error
                return self._say(stream, text)
            return all(self._say(stream, line) for line in reading.feed(text))

        return take

    def _say(self, stream: OutputStream, text: str) -> bool:
        if not self._budget.take(text) or not self.has_room():
            return False
        self._parcel.add(stream, text)
        return True

    def _conclude(self, reading: Reading, ended: Ended, command: commands.Command) -> ProbeDone:
        complete = ended.cause is None
        truncated = ended.cause is Cause.OVERFLOW
        for line in reading.finish(complete=complete) if not truncated else ():
            truncated = truncated or not self._say(OutputStream.STDOUT, line)
        if truncated:
            self._parcel.add(OutputStream.NOTE, f"Output truncated: {self._budget}.")
        return self._done(
            exit_code=ended.exit_code,
            error=self._reason(ended, command),
            detail=self._detail(ended, command),
            truncated=truncated,
            summary=reading.summary(complete=complete),
        )

    def _reason(self, ended: Ended, command: commands.Command) -> ProbeReason | None:
        if ended.cause is not None:
            return _REASON_OF_CAUSE[ended.cause]
        return None if ended.exit_code in command.good_codes else ProbeReason.TOOL_FAILED

    def _detail(self, ended: Ended, command: commands.Command) -> str:
        if ended.cause is None and ended.exit_code not in command.good_codes:
            return self._last_error or f"The tool ended with exit code {ended.exit_code}."
        if ended.cause is Cause.DEADLINE:
            return f"Stopped after {self._limits.seconds:g} seconds."
        return self._cancel_detail if ended.cause is Cause.CANCELLED else ""

    def _done(self, *, detail: str = "", **fields: Any) -> ProbeDone:
        return ProbeDone(probe_id=self._wanted.probe_id, detail=detail[:_DETAIL_LENGTH], **fields)


def _refused(reason: ProbeReason, refusal: AppError) -> _Refused:
    return _Refused(reason, refusal.detail)


class _Budget:
    """Counts lines and bytes against the limits."""

    def __init__(self, limits: ProbeLimits) -> None:
        self._limits = limits
        self._lines = 0
        self._bytes = 0

    def take(self, text: str) -> bool:
        """Whether this line still fits; if so, it counts."""
        size = len(text.encode(errors="replace"))
        if self._lines >= self._limits.lines or self._bytes + size > self._limits.total_bytes:
            return False
        self._lines += 1
        self._bytes += size
        return True

    def __str__(self) -> str:
        return (
            f"kept {self._lines} of at most {self._limits.lines} lines, "
            f"{self._bytes} of at most {self._limits.total_bytes} bytes"
        )
