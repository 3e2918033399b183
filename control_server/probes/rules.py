"""Decisions about probes that need nothing but values."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any
from uuid import UUID

from control_server.probes.schemas import (
    Ending,
    NodeFacts,
    Outcome,
    Position,
    ProbeCreate,
    ProbeJob,
    Tally,
)
from shared.kernel.errors import FieldError, InvalidInput
from shared.kernel.principal import Principal, Role
from shared.kernel.targets import PRESETS, Address, HostName, TargetPolicy, parse_target
from shared.protocol.frames import OutputLine, ProbeDone
from shared.protocol.probes import (
    OutputStream,
    ProbeLimits,
    ProbeReason,
    ProbeState,
    TargetRules,
    Tool,
)

#: Unfinished probes of one viewer; operators have the configured limit.
VIEWER_RUNNING = 2
#: The agent kills the tool at the limit and then needs a moment to drain its pipes and to say so.
DEADLINE_GRACE = timedelta(seconds=5)
#: An agent that was told to cancel has so long to answer.
CANCEL_GRACE = timedelta(seconds=5)

#: Agents cut lines themselves; they write a control character as four and add a word about the cut.
_WRITTEN_OUT = 4
_WORD_ABOUT_THE_CUT = 256

_SUMMARY_DEPTH = 12
_SUMMARY_ITEMS = 5000
_PING_WITHOUT_ANSWER = 1


def read_target(wanted: ProbeCreate) -> Address | HostName:
    """The target of a request. Raises InvalidInput that names the field."""
    target = parse_target(wanted.target)
    family = wanted.options.family
    if family is not None and not isinstance(target, HostName) and target.version != family:
        message = f"{target} is an IPv{target.version} address; leave the family out, or give a name."
        raise InvalidInput(message, fields=[FieldError("options.family", "family_mismatch", message)])
    return target


def targets_of(preset: str, extra: TargetRules, node: tuple[Iterable[str], Iterable[str]]) -> TargetRules:
    """The policy of one node: the preset, the fleet's own lists, and the node's (allow, deny)."""
    allow, deny = ([ip_network(text) for text in texts] for texts in node)
    return TargetRules(
        allow=(*extra.allow, *allow),
        deny=(*PRESETS[preset].deny, *extra.deny, *deny),
    )


def target_refusal(target: Address | HostName, rules: TargetRules) -> str | None:
    """Why this node may not probe the address; a name is judged by the agent that resolves it."""
    if isinstance(target, HostName):
        return None
    return TargetPolicy(allow=rules.allow, deny=rules.deny).refusal(target)


def obstacle(facts: NodeFacts, tool: Tool, target: Address | HostName, running: int) -> Outcome | None:
    """Why the node cannot run it now, or None when it can; the lasting reasons come first."""
    refused = target_refusal(target, facts.targets)
    if refused is not None:
        return _failed(ProbeReason.TARGET_REFUSED, f"{target} {refused}.")
    if not facts.connected:
        return _failed(ProbeReason.NODE_OFFLINE, "The node's agent is not connected.")
    if tool not in facts.tools:
        return _failed(ProbeReason.TOOL_MISSING, f"{tool} is not installed on the node.")
    if facts.running >= running:
        return _failed(ProbeReason.BUSY, "The node runs as many probes as it may.")
    return None


def _failed(reason: ProbeReason, detail: str) -> Outcome:
    return Outcome(state_of(reason), reason, detail)


def share_of(limits: ProbeLimits, nodes: int) -> ProbeLimits:
    """The fair share of each node in the limits of the whole probe."""
    return limits.model_copy(
        update={
            # One place of each share is kept for the line that says that more was not kept.
            "lines": max(1, limits.lines // nodes - 1),
            "total_bytes": max(limits.line_bytes, limits.total_bytes // nodes),
        }
    )


def clean_text(text: str) -> str:
    """Text that every database and every reader takes: no NUL, no half of a surrogate pair."""
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def longest_line(limits: ProbeLimits) -> int:
    """The greatest line that an agent which keeps to the limits can send."""
    return limits.line_bytes * _WRITTEN_OUT + _WORD_ABOUT_THE_CUT


def clip(text: str, limit: int) -> tuple[str, bool]:
    """At most `limit` bytes of UTF-8, never half a character, and whether something was cut."""
    # No character has less than one byte, so a huge line is cut before it is copied around.
    cleaned = clean_text(text[: limit + 1])
    encoded = cleaned.encode()
    if len(encoded) <= limit:
        return cleaned, len(text) > limit + 1
    return encoded[:limit].decode(errors="ignore"), True


#: Stands in place of the first line that is not kept.
TRUNCATED = "Output limit reached: what follows was not kept."


def take(
    job: ProbeJob, tally: Tally, lines: Sequence[OutputLine]
) -> tuple[Tally, list[tuple[OutputStream, str]]]:
    """Those of a node's lines that are new and within its share (S15), and the tally after them."""
    taken: list[tuple[OutputStream, str]] = []
    for line in lines:
        if line.seq <= tally.agent_seq:
            continue
        tally = replace(tally, agent_seq=line.seq)
        text, cut = clip(line.text, longest_line(job.each))
        size = 0 if job.drop_oldest else len(text.encode())
        fits = tally.lines < job.each.lines and tally.taken_bytes + size <= job.each.total_bytes
        if fits or job.drop_oldest:
            taken.append((line.stream, text))
            tally = replace(tally, lines=tally.lines + 1, taken_bytes=tally.taken_bytes + size)
        if not job.drop_oldest and (cut or not fits):
            taken.append((OutputStream.NOTE, TRUNCATED))
            return replace(tally, lines=tally.lines + 1, truncated=True), taken
    return tally, taken


def clean_summary(summary: dict[str, Any] | None) -> dict[str, Any] | None:
    """The agent's parsed result as plain JSON that every database takes; None when it is too large."""
    if summary is None:
        return None
    try:
        cleaned: dict[str, Any] = _clean(summary, _SUMMARY_DEPTH, [_SUMMARY_ITEMS])
    except _TooLarge:
        return None
    return cleaned


class _TooLarge(Exception):
    """The summary is deeper or longer than any tool's result."""


def _clean(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if depth == 0 or left[0] < 0:
        raise _TooLarge
    if isinstance(value, dict):
        return {clip(str(key), 256)[0]: _clean(item, depth - 1, left) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth - 1, left) for item in value]
    if isinstance(value, str):
        return clip(value, 1024)[0]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def outcome_of(done: ProbeDone, tool: Tool) -> Outcome:
    """What the agent's last word means."""
    state, reason = _meaning(done, tool)
    return Outcome(
        state=state,
        reason=reason,
        detail=clean_text(done.detail),
        exit_code=done.exit_code,
        summary=clean_summary(done.summary),
        truncated=done.truncated,
    )


def _meaning(done: ProbeDone, tool: Tool) -> tuple[ProbeState, ProbeReason | None]:
    if done.error is not None:
        return state_of(done.error), done.error
    if done.exit_code == 0:
        return ProbeState.DONE, None
    # ping exits with 1 when nobody answered: the tool has done its work, and that is its result.
    if tool is Tool.PING and done.exit_code == _PING_WITHOUT_ANSWER and done.last_seq > 0:
        return ProbeState.DONE, None
    return ProbeState.FAILED, ProbeReason.TOOL_FAILED


def state_of(reason: ProbeReason) -> ProbeState:
    """The final state that goes with a reason."""
    if reason is ProbeReason.CANCELLED:
        return ProbeState.CANCELLED
    if reason in {ProbeReason.DEADLINE, ProbeReason.NOT_STARTED}:
        return ProbeState.EXPIRED
    return ProbeState.FAILED


def overall(shares: Iterable[tuple[ProbeState, ProbeReason | None]]) -> Ending:
    """The ending of a probe whose shares are all final: well if it went well anywhere."""
    by_state: dict[ProbeState, ProbeReason | None] = {}
    for state, reason in shares:
        by_state.setdefault(state, reason)
    order = (ProbeState.DONE, ProbeState.CANCELLED, ProbeState.EXPIRED, ProbeState.FAILED)
    state = next(state for state in order if state in by_state)
    return Ending(state, by_state[state])


def overdue(
    share: tuple[ProbeState, datetime | None],
    probe: tuple[datetime, datetime | None],
    limits: tuple[timedelta, timedelta],
    now: datetime,
) -> ProbeReason | None:
    """Why the share (state, started) of a probe (created, cancelled) must end now, if it must.

    `limits` are the time to start and the time to run.
    """
    (state, started_at), (created_at, cancelled_at), (to_start, to_run) = share, probe, limits
    if cancelled_at is not None and now >= cancelled_at + CANCEL_GRACE:
        return ProbeReason.CANCELLED
    if state is ProbeState.ACCEPTED and now >= created_at + to_start:
        return ProbeReason.NOT_STARTED
    if now >= (started_at or created_at) + to_run + DEADLINE_GRACE:
        return ProbeReason.DEADLINE
    return None


def running_limit(caller: Principal, configured: int) -> int:
    """How many unfinished probes the caller may have."""
    return min(configured, VIEWER_RUNNING) if caller.role is Role.VIEWER else configured


def may_cancel(caller: Principal, owner_id: str) -> bool:
    """Viewers cancel their own probes, operators everybody's."""
    return caller.id == owner_id or caller.role in {Role.OPERATOR, Role.ADMIN}


def missing(state: ProbeState, reasons: Sequence[ProbeReason | None], counts: tuple[int, int]) -> str | None:
    """What a reader of the stored lines (accepted, archived) must be told, if anything."""
    accepted, archived = counts
    if not state.final:
        return None
    if accepted > archived:
        return f"{accepted - archived} of {accepted} lines were lost before they could be stored."
    if ProbeReason.SERVER_RESTARTED in reasons:
        return f"The server restarted in the middle; lines after number {archived} may be missing."
    return None


def parse_position(text: str | None) -> Position | None:
    """The position in an event id `<epoch>-<seq>`; None when there is none or it is not ours."""
    epoch, _, number = (text or "").strip().rpartition("-")
    if not epoch or not (number.isascii() and number.isdigit()) or len(number) > 12:  # noqa: PLR2004
        return None
    return Position(epoch, int(number))


def event_id(epoch: str, seq: int) -> str:
    """The id of an event (S6: a number alone would mean something else after a restart)."""
    return f"{epoch}-{seq}"


def encode_cursor(at: datetime, ident: UUID) -> str:
    """A cursor that names one probe."""
    return base64.urlsafe_b64encode(f"{at.isoformat()}|{ident}".encode()).decode().rstrip("=")


def decode_cursor(text: str) -> tuple[datetime, UUID]:
    """The instant and id of a cursor. Raises InvalidInput."""
    try:
        padded = text + "=" * (-len(text) % 4)
        at, _, ident = base64.urlsafe_b64decode(padded).decode().partition("|")
        # Ours always carry a zone; astimezone reads one without as local, which harms nobody.
        return datetime.fromisoformat(at).astimezone(UTC), UUID(ident)
    except (ValueError, OverflowError, binascii.Error):
        refused = FieldError("cursor", "cursor_invalid", "Use the `next` value of an earlier page unchanged.")
        raise InvalidInput("The cursor is not one of ours.", fields=[refused]) from None
