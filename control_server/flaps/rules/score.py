"""The score: exponential decay, charges in any order, a ceiling, and levels with hysteresis.

Nothing here rewrites a score because time passes: a score is a value at an instant, and is decayed when read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp2, log2

from control_server.flaps.schemas import Level

#: Seconds in which a score halves.
HALF_LIFE = 1800.0
#: Four half-lives above the clearing level, so that nothing is remembered for longer than two hours.
CEILING = 12_000.0
NOISY = 2000.0
FLAPPING = 3000.0
#: Below it everything is stable again.
CLEAR = 750.0
#: Below it nothing is remembered.
FORGOTTEN = 50.0

#: A session left Established, or a best path was withdrawn.
DROP = 1000
#: The best path is another one.
CHANGE = 500


@dataclass(frozen=True, slots=True)
class Score:
    """A value at an instant, in seconds since the epoch."""

    value: float = 0.0
    at: float = 0.0

    def now(self, instant: float) -> float:
        """The value at an instant. A clock that went back makes no score grow."""
        return self.value * exp2(-max(0.0, instant - self.at) / HALF_LIFE)

    def charged(self, weight: float, instant: float) -> Score:
        """With one event more. An event that is told late ends in the same score as one told in order."""
        if instant >= self.at:
            return Score(min(CEILING, self.now(instant) + weight), instant)
        aged = weight * exp2(-(self.at - instant) / HALF_LIFE)
        return Score(min(CEILING, self.value + aged), self.at)

    def plus(self, other: Score) -> Score:
        """Both together: charges add up, whoever kept them."""
        at = max(self.at, other.at)
        return Score(min(CEILING, self.now(at) + other.now(at)), at)


def level_of(value: float, before: Level) -> Level:
    """The level at this value: it rises at once, and falls only below the clearing level."""
    if value >= FLAPPING:
        return Level.FLAPPING
    if value < CLEAR:
        return Level.STABLE
    if before is Level.FLAPPING:
        return Level.FLAPPING
    return Level.NOISY if value >= NOISY or before is Level.NOISY else Level.STABLE


def seconds_until(value: float, threshold: float = CLEAR) -> float:
    """How long a score of this value takes to fall to the threshold if nothing more happens."""
    return HALF_LIFE * log2(value / threshold) if value > threshold else 0.0


def limit_of(weight: float, every: float) -> float:
    """What the score tends to, right after an event, when one comes every so many seconds; no ceiling."""
    return weight / (1.0 - exp2(-every / HALF_LIFE))


@dataclass(frozen=True, slots=True)
class Tally:
    """A score with what is told of it: its level, and how many charges made it since it left zero."""

    score: Score = Score()
    level: Level = Level.STABLE
    events: int = 0
    first_at: float = 0.0
    last_at: float = 0.0

    def charged(self, weight: float, instant: float) -> Tally:
        """With one event more; one that weighs nothing changes nothing."""
        if not weight:
            return self
        fresh = self.score.now(instant) < FORGOTTEN
        score = self.score.charged(weight, instant)
        return Tally(
            score=score,
            level=level_of(score.value, self.level_at(instant)),
            events=1 if fresh else self.events + 1,
            first_at=instant if fresh else min(self.first_at, instant),
            last_at=max(self.last_at, instant),
        )

    def level_at(self, instant: float) -> Level:
        """The level at an instant."""
        return level_of(self.score.now(instant), self.level)

    def clears_at(self, instant: float) -> float | None:
        """When it will be stable if nothing more happens; None when it is."""
        if self.level_at(instant) is Level.STABLE:
            return None
        return self.score.at + seconds_until(self.score.value)

    def forgotten(self, instant: float) -> bool:
        """Whether so little is left that it need not be kept."""
        return self.score.now(instant) < FORGOTTEN

    def plus(self, other: Tally) -> Tally:
        """What two keepers counted of the same subject, one after the other."""
        score = self.score.plus(other.score)
        order = (Level.STABLE, Level.NOISY, Level.FLAPPING)
        before = max(self.level_at(score.at), other.level_at(score.at), key=order.index)
        firsts = [tally.first_at for tally in (self, other) if tally.events]
        return replace(
            self,
            score=score,
            level=level_of(score.value, before),
            events=self.events + other.events,
            first_at=min(firsts, default=0.0),
            last_at=max(self.last_at, other.last_at),
        )


#: Nobody was charged.
NOTHING = Tally()
