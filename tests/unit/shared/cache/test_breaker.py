from datetime import UTC, datetime, timedelta

from shared.cache.breaker import Breaker, BreakerPolicy, BreakerState, Ticket

POLICY = BreakerPolicy(consecutive_failures=3, window=10, window_failures=5, jitter=0.0)


class Hand:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def opened(breaker: Breaker) -> Breaker:
    for _ in range(POLICY.consecutive_failures):
        breaker.failed(breaker.admit(), "deadline")
    assert breaker.state is BreakerState.OPEN
    return breaker


def test_opens_after_failures_in_a_row_and_refuses() -> None:
    breaker = opened(Breaker(POLICY))
    assert breaker.admit() is Ticket.REFUSED


def test_a_success_between_starts_the_count_anew() -> None:
    breaker = Breaker(POLICY)
    for _ in range(4):
        breaker.failed(breaker.admit(), "deadline")
        breaker.succeeded(breaker.admit())
    assert breaker.state is BreakerState.CLOSED


def test_opens_when_half_of_the_calls_fail() -> None:
    breaker = Breaker(POLICY)
    for _ in range(5):
        breaker.succeeded(breaker.admit())
        breaker.failed(breaker.admit(), "deadline")
    assert breaker.state is BreakerState.OPEN


def test_one_call_a_cool_down_tries() -> None:
    hand = Hand()
    breaker = opened(Breaker(POLICY, monotonic=hand))
    hand.now += POLICY.cool_down.total_seconds()
    assert breaker.admit() is Ticket.TRIAL
    assert breaker.admit() is Ticket.REFUSED
    breaker.failed(Ticket.TRIAL, "deadline")
    assert breaker.admit() is Ticket.REFUSED
    hand.now += 2 * POLICY.cool_down.total_seconds()
    assert breaker.admit() is Ticket.TRIAL
    breaker.succeeded(Ticket.TRIAL)
    assert breaker.admit() is Ticket.NORMAL


def test_each_failed_trial_doubles_the_cool_down_up_to_a_bound() -> None:
    hand = Hand()
    breaker = opened(Breaker(POLICY, monotonic=hand))
    pauses = []
    for _ in range(5):
        pauses.append(breaker._retry_at - hand.now)
        hand.now = breaker._retry_at
        breaker.failed(breaker.admit(), "deadline")
    assert pauses == [1, 2, 4, 5, 5]
    breaker.recover("test")
    assert opened(breaker)._retry_at - hand.now == 1


def test_a_trial_that_was_given_up_lets_another_try_at_once() -> None:
    hand = Hand()
    breaker = opened(Breaker(POLICY, monotonic=hand))
    hand.now += POLICY.cool_down.total_seconds()
    breaker.abandoned(breaker.admit())
    assert breaker.admit() is Ticket.TRIAL


def test_the_cool_down_varies_so_that_replicas_do_not_try_together() -> None:
    retries = set()
    for _ in range(20):
        breaker = Breaker(BreakerPolicy(consecutive_failures=1, jitter=0.25), monotonic=Hand())
        breaker.failed(breaker.admit(), "deadline")
        retries.add(breaker._retry_at)
    assert len(retries) > 1
    assert all(100.75 <= retry <= 101.25 for retry in retries)


def test_late_outcomes_of_earlier_calls_change_nothing_while_open() -> None:
    breaker = Breaker(POLICY)
    tickets = [breaker.admit() for _ in range(10)]
    for ticket in tickets[:3]:
        breaker.failed(ticket, "deadline")
    breaker.succeeded(tickets[3])
    breaker.failed(tickets[4], "deadline")
    breaker.abandoned(tickets[5])
    assert breaker.state is BreakerState.OPEN
    assert len(breaker.history) == 1


def test_remembers_and_tells_its_changes() -> None:
    told: list[tuple[BreakerState, str]] = []
    at = datetime(2026, 1, 1, tzinfo=UTC)
    breaker = Breaker(
        POLICY, monotonic=Hand(), clock=lambda: at, changed=lambda state, reason: told.append((state, reason))
    )
    opened(breaker).recover("probe_answered")
    breaker.recover("probe_answered")
    assert told == [(BreakerState.OPEN, "deadline"), (BreakerState.CLOSED, "probe_answered")]
    assert [(change.at, change.state) for change in breaker.history] == [
        (at, BreakerState.OPEN),
        (at, BreakerState.CLOSED),
    ]


def test_its_history_is_bounded() -> None:
    breaker = Breaker(BreakerPolicy(consecutive_failures=1))
    for _ in range(200):
        breaker.failed(breaker.admit(), "deadline")
        breaker.recover("test")
    assert len(breaker.history) == 50
    assert timedelta(seconds=1) == BreakerPolicy().cool_down
