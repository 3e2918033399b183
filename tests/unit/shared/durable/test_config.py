"""Behaviour settings refuse what could never work."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared.durable import Backoff, ContextAge, ContextRetentionPolicy, RedisConfig, Retention


class TestRedisConfig:
    def test_has_the_documented_defaults(self) -> None:
        config = RedisConfig()
        assert (config.prefix, config.lease_seconds, config.event_max_length) == ("routeloom", 60.0, 10_000)

    @pytest.mark.parametrize(
        "fields", [{"prefix": ""}, {"prefix": "a b"}, {"lease_seconds": 0}, {"event_max_length": 0}]
    )
    def test_refuses(self, fields: dict[str, object]) -> None:
        with pytest.raises(ValueError, match=next(iter(fields))):
            RedisConfig(**fields)  # type: ignore[arg-type]


class TestBackoff:
    @pytest.mark.parametrize(("attempt", "seconds"), [(1, 1), (2, 2), (5, 16), (60, 600), (10**6, 600)])
    def test_grows_to_its_ceiling(self, attempt: int, seconds: float) -> None:
        assert Backoff(jitter=0).pause(attempt) == timedelta(seconds=seconds)

    def test_spreads(self) -> None:
        pauses = {Backoff().pause(3) for _ in range(50)}
        assert len(pauses) > 1
        assert all(timedelta(seconds=3.2) <= pause <= timedelta(seconds=4.8) for pause in pauses)


class TestRetention:
    def test_is_off_by_default(self) -> None:
        assert (Retention().milliseconds, Retention().listed) == (0, False)

    def test_every_context_has_an_age(self) -> None:
        policy = ContextRetentionPolicy(1, 2, 3)
        assert [policy.seconds(age) for age in ContextAge] == [1, 2, 3]
        with pytest.raises(ValueError, match="age"):
            ContextRetentionPolicy(1, 0, 3)
