"""How the hot state is written: JSON, as small as it can be without losing what is promised.

Sessions are few and stay readable. Prefixes are many: their columns are packed, which leaves about a third.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

from control_server.flaps.rules.looks import SessionBase, SessionEntry
from control_server.flaps.rules.prefixes import PrefixBase, PrefixEntry
from control_server.flaps.rules.score import Score, Tally
from control_server.flaps.schemas import Level, SessionState

_LEVELS = (Level.STABLE, Level.NOISY, Level.FLAPPING)
_STATES = (SessionState.ESTABLISHED, SessionState.DOWN, SessionState.DISABLED, SessionState.UNKNOWN)
_ERROR_LENGTH = 120
#: Digits of a score and of an instant that are kept.
_DIGITS = 3
_LEVEL = 6


def write_sessions(base: SessionBase) -> dict[str, Any]:
    """The blob of `bgpflap:<node>`."""
    return {
        "f": base.fence,
        "t": round(base.taken_at, _DIGITS),
        "r": round(base.received_at, _DIGITS),
        "b": None if base.started_at is None else round(base.started_at, _DIGITS),
        "c": base.running,
        "p": [round(at, _DIGITS) for at in base.recent],
        "n": write_tally(base.node),
        "s": {name: write_session(entry) for name, entry in base.sessions.items()},
    }


def read_sessions(blob: Mapping[str, Any]) -> SessionBase:
    """The state of a blob."""
    return SessionBase(
        fence=blob["f"],
        taken_at=blob["t"],
        received_at=blob["r"],
        started_at=blob["b"],
        running=blob["c"],
        recent=tuple(blob["p"]),
        node=read_tally(blob["n"]),
        sessions={name: read_session(entry) for name, entry in blob["s"].items()},
    )


def write_session(entry: SessionEntry) -> list[Any]:
    """One session, as it also stands in SQL."""
    since = None if entry.since is None else round(entry.since, _DIGITS)
    told = (entry.updates, entry.asn, entry.error[:_ERROR_LENGTH])
    return [_STATES.index(entry.state), since, entry.precision, *told, *write_tally(entry.tally)]


def read_session(entry: list[Any]) -> SessionEntry:
    """One session out of what `write_session` wrote."""
    state, since, precision, updates, asn, error, *tally = entry
    return SessionEntry(_STATES[state], since, precision, updates, asn, error, read_tally(tally))


def write_tally(tally: Tally) -> list[Any]:
    """Score, instant, level, events, first and last of them."""
    score = tally.score
    times = (round(tally.first_at, _DIGITS), round(tally.last_at, _DIGITS))
    return [
        round(score.value, _DIGITS),
        round(score.at, _DIGITS),
        _LEVELS.index(tally.level),
        tally.events,
        *times,
    ]


def read_tally(row: list[Any]) -> Tally:
    """A tally out of what `write_tally` wrote."""
    value, at, level, events, first, last = row
    return Tally(Score(value, at), _LEVELS[level], events, first, last)


def write_prefixes(base: PrefixBase) -> dict[str, Any]:
    """The blob of `pflap:<node>`."""
    columns: list[list[Any]] = [[], [], [], [], [], [], [], [], []]
    for prefix, entry in sorted(base.prefixes.items()):
        row = [prefix, *_relative(entry.tally, base.taken_at), entry.withdrawals, "|".join(entry.paths)]
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    text = json.dumps(columns, separators=(",", ":"))
    return {
        "f": base.fence,
        "q": list(base.recent),
        "t": round(base.taken_at, _DIGITS),
        "z": base64.b85encode(zlib.compress(text.encode(), _LEVEL)).decode(),
    }


def read_prefixes(blob: Mapping[str, Any]) -> PrefixBase:
    """The state of a blob."""
    taken_at = blob["t"]
    rows = zip(*json.loads(zlib.decompress(base64.b85decode(blob["z"]))), strict=True)
    return PrefixBase(
        fence=blob["f"],
        recent=tuple(blob["q"]),
        taken_at=taken_at,
        prefixes={prefix: _absolute(row, taken_at) for prefix, *row in rows},
    )


def _relative(tally: Tally, taken_at: float) -> list[Any]:
    # Whole seconds do for what is only told; the last event mostly is the one that was scored last.
    at = tally.score.at
    spans = (round(at - tally.first_at), round(at - tally.last_at))
    return [
        round(tally.score.value, 1),
        _LEVELS.index(tally.level),
        tally.events,
        round(taken_at - at, 1),
        *spans,
    ]


def _absolute(row: list[Any], taken_at: float) -> PrefixEntry:
    value, level, events, age, first, last, withdrawals, paths = row
    at = round(taken_at - age, 1)
    tally = Tally(Score(value, at), _LEVELS[level], events, round(at - first, 1), round(at - last, 1))
    return PrefixEntry(tally, withdrawals, tuple(paths.split("|")) if paths else ())
