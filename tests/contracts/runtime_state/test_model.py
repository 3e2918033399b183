"""Case C28: whatever is asked in whatever order, memory and servers answer alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from shared.runtime_state import (
    RedisRuntimeClient,
    RuntimeStateBatch,
    RuntimeStateUsageError,
    create_runtime_state_client,
)
from tests.contracts.runtime_state.subjects import PATIENCE, fit_url, random_prefix

SLACK = 5

keys = st.sampled_from(["a", "b", "c", ""])
fields = st.sampled_from(["f", "g", ""])
values = st.sampled_from(["", "7", "007", "-1", "9223372036854775807", "text", b"\xff\x00", 41])
lifetimes = st.sampled_from([None, 100, 5000, 0, -1, True, 1.5])
durations = st.sampled_from([0, -1, 100, 5000, 2**31])
mappings = st.dictionaries(fields, values, max_size=3)

Asked = Callable[[RedisRuntimeClient], Awaitable[object]]
Step = Callable[[RuntimeStateBatch], object]

steps = st.one_of(
    st.builds(
        lambda k, v, ex, nx: lambda b: b.set(k, v, ex=ex, nx=nx), keys, values, lifetimes, st.booleans()
    ),
    st.builds(lambda k, m: lambda b: b.hset(k, m), keys, mappings),
    st.builds(lambda k, s: lambda b: b.expire(k, s), keys, durations),
    st.builds(lambda ks: lambda b: b.delete(*ks), st.lists(keys, max_size=3)),
)


class SameAnswers(RuleBasedStateMachine):
    """Asks two clients the same and compares answers, errors by their type, lifetimes within some seconds."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        prefix = random_prefix()
        self.memory = create_runtime_state_client("memory://model", prefix=prefix)
        self.server = create_runtime_state_client(self.url, prefix=prefix, deadline=PATIENCE)

    def teardown(self) -> None:
        self._run(self.server.delete("a", "b", "c", ""))
        self._run(self.server.aclose())
        self.loop.close()

    @rule(key=keys, value=values, ex=lifetimes, nx=st.booleans())
    def set(self, key: str, value: Any, ex: Any, nx: bool) -> None:
        self._same(lambda client: client.set(key, value, ex=ex, nx=nx))

    @rule(key=keys)
    def get(self, key: str) -> None:
        self._same(lambda client: client.get(key))

    @rule(key=keys)
    def incr(self, key: str) -> None:
        self._same(lambda client: client.incr(key))

    @rule(gone=st.lists(keys, max_size=3))
    def delete(self, gone: list[str]) -> None:
        self._same(lambda client: client.delete(*gone))

    @rule(key=keys, seconds=durations)
    def expire(self, key: str, seconds: int) -> None:
        self._same(lambda client: client.expire(key, seconds))

    @rule(key=keys)
    def ttl(self, key: str) -> None:
        ours, theirs = self._answers(lambda client: client.ttl(key))
        assert isinstance(ours, int)
        assert isinstance(theirs, int)
        assert ours == theirs if min(ours, theirs) < 0 else abs(ours - theirs) <= SLACK

    @rule(key=keys, mapping=mappings)
    def hset(self, key: str, mapping: dict[Any, Any]) -> None:
        self._same(lambda client: client.hset(key, mapping))

    @rule(key=keys, field=fields)
    def hget(self, key: str, field: str) -> None:
        self._same(lambda client: client.hget(key, field))

    @rule(key=keys, wanted=st.lists(fields, max_size=4))
    def hmget(self, key: str, wanted: list[str]) -> None:
        self._same(lambda client: client.hmget(key, wanted))

    @rule(key=keys)
    def hgetall(self, key: str) -> None:
        self._same(lambda client: client.hgetall(key))

    @rule(filled=st.lists(steps, max_size=5))
    def batch(self, filled: list[Step]) -> None:
        async def execute(client: RedisRuntimeClient) -> object:
            batch = client.batch()
            for step in filled:
                step(batch)
            return await batch.execute()

        self._same(execute)
        for key in ("a", "b", "c", ""):
            self.ttl(key)

    def _same(self, ask: Asked) -> None:
        ours, theirs = self._answers(ask)
        assert ours == theirs
        assert type(ours) is type(theirs)

    def _answers(self, ask: Asked) -> tuple[object, object]:
        return self._run(_outcome(ask, self.memory)), self._run(_outcome(ask, self.server))

    def _run(self, coroutine: Coroutine[Any, Any, object]) -> object:
        return self.loop.run_until_complete(coroutine)


async def _outcome(ask: Asked, client: RedisRuntimeClient) -> object:
    try:
        return await ask(client)
    except RuntimeStateUsageError as error:
        return type(error)


def test_c28_random_sequences_are_answered_alike(server_url: str) -> None:
    class OnThisServer(SameAnswers):
        url = fit_url(server_url)

    run_state_machine_as_test(
        OnThisServer,
        settings=settings(
            max_examples=4,
            stateful_step_count=200,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
