import structlog

from shared.cache import Tier
from shared.cache.gateway import Alarms


class Hand:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_each_trouble_is_said_once_an_hour() -> None:
    hand = Hand()
    alarms = Alarms(Tier.KV, hand)
    with structlog.testing.capture_logs() as logged:
        for minute in range(0, 121, 10):
            hand.now = minute * 60.0
            alarms.ring("tier_alarm", "capacity")
            alarms.ring("tier_alarm", "configuration")
    assert [line["about"] for line in logged].count("capacity") == 3
    assert [line["about"] for line in logged].count("configuration") == 3
