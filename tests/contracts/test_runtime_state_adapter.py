"""The release gate of the runtime state: one contract, the same answers from memory, Valkey and Redis.

Rows bear the numbers of the parity cases. A missing server fails the run, it never skips it.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from shared.runtime_state import (
    RedisRuntimeClient,
    RuntimeStateArgumentError,
    RuntimeStateBatchSpent,
    RuntimeStateTypeError,
    RuntimeStateValueError,
)
from shared.runtime_state.arguments import MAX_ARGUMENTS
from tests.contracts.runtime_state.driver import perform
from tests.contracts.runtime_state.language import Row, agrees, read_rows
from tests.contracts.runtime_state.subjects import (
    DATABASE,
    SERVER_VARIABLE,
    Subject,
    memory_subject,
    server_names,
    server_subject,
)


@pytest.fixture(params=["memory", *server_names(os.environ)])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    if request.param == "memory":
        async with memory_subject() as opened:
            yield opened
        return
    given = os.environ.get(SERVER_VARIABLE)
    url = given or f"{request.getfixturevalue(request.param).url}/{DATABASE}"
    async with server_subject(url) as opened:
        yield opened


@pytest.fixture
def state(subject: Subject) -> RedisRuntimeClient:
    return subject.client


@pytest.mark.parametrize("row", read_rows("contract_rows.txt"), ids=lambda row: f"row_{row.number}")
async def test_the_contract_answers_as_the_table_says(subject: Subject, row: Row) -> None:
    for command, expected in zip(row.commands, row.answers, strict=True):
        answer = await perform(subject, command)
        assert agrees(command, answer, expected), f"{command} answered {answer}, not {expected}"


async def test_row_44_keys_fields_and_values_are_binary_safe(state: RedisRuntimeClient) -> None:
    assert await state.set(b"k\x00\xff", b"v\x00\xff\r\n")
    assert await state.get(b"k\x00\xff") == b"v\x00\xff\r\n"
    assert await state.hset("h", {b"\xff": b"\x00"}) == 1
    assert await state.hget("h", b"\xff") == b"\x00"
    assert await state.hgetall("h") == {b"\xff": b"\x00"}


@pytest.mark.parametrize(("left", "shown"), [(1990, 2), (1490, 1), (990, 1), (490, 0)])
async def test_row_50_the_lifetime_is_rounded_to_the_nearest_second(
    subject: Subject, left: int, shown: int
) -> None:
    now = asyncio.get_running_loop().time
    for _attempt in range(50):
        await subject.client.set("k", "v")
        began = now()
        await subject.leave("k", left)
        seconds = await subject.client.ttl("k")
        if now() - began < 0.4:
            assert seconds == shown
            return
    pytest.fail("the machine was never quick enough to tell")


async def test_row_51_c6_a_lifetime_shown_as_zero_is_still_alive(subject: Subject) -> None:
    for _attempt in range(50):
        await subject.client.set("k", "v")
        await subject.leave("k", 400)
        seconds, value = await subject.client.ttl("k"), await subject.client.get("k")
        if value is not None:
            assert seconds == 0
            return
    pytest.fail("the machine was never quick enough to tell")


class TestC2Types:
    async def test_a_clash_is_an_error_and_changes_nothing(self, state: RedisRuntimeClient) -> None:
        await state.hset("h", {"f": 1})
        await state.set("s", "v", ex=90)
        for refused in (
            state.get("h"),
            state.incr("h"),
            state.hget("s", "f"),
            state.hset("s", {"f": 1}),
            state.hmget("s", ["f"]),
            state.hgetall("s"),
        ):
            with pytest.raises(RuntimeStateTypeError):
                await refused
        assert await state.hgetall("h") == {b"f": b"1"}
        assert await state.get("s") == b"v"
        assert await state.ttl("s") > 80

    async def test_a_string_may_replace_a_hash(self, state: RedisRuntimeClient) -> None:
        await state.hset("h", {"f": 1})
        assert await state.set("h", "v")
        assert await state.get("h") == b"v"


class TestC3Increment:
    @pytest.mark.parametrize("text", ["007", "+5", " 1", "1.0", "", str(2**63 - 1)])
    async def test_refuses_what_is_no_canonical_integer_and_changes_nothing(
        self, state: RedisRuntimeClient, text: str
    ) -> None:
        await state.set("k", text, ex=90)
        with pytest.raises(RuntimeStateValueError):
            await state.incr("k")
        assert await state.get("k") == text.encode()
        assert await state.ttl("k") > 80


class TestC5Arguments:
    @pytest.mark.parametrize("ex", [0, -1, 1.5, True, "5", 2**31])
    async def test_a_bad_lifetime_is_refused_before_any_effect(
        self, state: RedisRuntimeClient, ex: object
    ) -> None:
        await state.set("k", "v", ex=90)
        with pytest.raises(RuntimeStateArgumentError):
            await state.set("k", "w", ex=ex)  # type: ignore[arg-type]
        assert await state.get("k") == b"v"
        assert await state.ttl("k") > 80

    async def test_a_lifetime_may_be_a_duration_of_whole_seconds(self, state: RedisRuntimeClient) -> None:
        await state.set("k", "v", ex=timedelta(minutes=2))
        assert 110 < await state.ttl("k") <= 120
        with pytest.raises(RuntimeStateArgumentError):
            await state.expire("k", timedelta(milliseconds=1500))
        assert await state.expire("k", timedelta(seconds=-1))
        assert await state.get("k") is None

    @pytest.mark.parametrize("nx", [1, None, "yes"])
    async def test_a_condition_is_true_or_false(self, state: RedisRuntimeClient, nx: object) -> None:
        with pytest.raises(RuntimeStateArgumentError):
            await state.set("k", "v", nx=nx)  # type: ignore[arg-type]
        assert await state.get("k") is None

    @pytest.mark.parametrize("value", [None, True, 1.5, {}, [], object(), "\ud800"])
    async def test_a_bad_value_is_refused_before_any_effect(
        self, state: RedisRuntimeClient, value: object
    ) -> None:
        await state.set("k", "v")
        with pytest.raises(RuntimeStateArgumentError):
            await state.set("k", value)  # type: ignore[arg-type]
        with pytest.raises(RuntimeStateArgumentError):
            await state.hset("h", {"good": 1, "bad": value})  # type: ignore[dict-item]
        assert await state.get("k") == b"v"
        assert await state.hgetall("h") == {}

    async def test_an_empty_mapping_and_empty_field_lists_are_refused(
        self, state: RedisRuntimeClient
    ) -> None:
        with pytest.raises(RuntimeStateArgumentError):
            await state.hset("h", {})
        with pytest.raises(RuntimeStateArgumentError):
            await state.hmget("h", [])
        with pytest.raises(RuntimeStateArgumentError):
            await state.hmget("h", "field")


class TestC8Prefix:
    async def test_is_applied_once_also_in_a_batch(self, subject: Subject) -> None:
        state = subject.client
        await state.set("a", "1")
        batch = state.batch()
        batch.hset("b", {"f": 1})
        batch.set("a", "2")
        batch.expire("a", 90)
        assert await batch.execute() == [1, True, True]
        assert await state.get("a") == b"2"
        assert await state.hget("b", "f") == b"1"
        assert (await state.stats()).active_keys == 2

    async def test_a_key_is_joined_without_the_prefix(self, state: RedisRuntimeClient) -> None:
        assert state.key("runtime", "build", "42") == "runtime:build:42"
        with pytest.raises(RuntimeStateArgumentError):
            state.key("runtime", "")


class TestC9Keys:
    @pytest.mark.parametrize(
        "key", ["", "a\x00b", "a\nb", b"\xff", "é", "k" * 2**20], ids=lambda k: str(k)[:5]
    )
    async def test_any_text_and_any_bytes_are_a_key(
        self, state: RedisRuntimeClient, key: str | bytes
    ) -> None:
        assert await state.set(key, "v", ex=90)
        assert await state.get(key) == b"v"
        assert await state.delete(key) == 1

    async def test_a_lone_surrogate_is_no_key(self, state: RedisRuntimeClient) -> None:
        with pytest.raises(RuntimeStateArgumentError):
            await state.get("\ud800")


class TestC10Values:
    async def test_everything_is_read_as_bytes(self, state: RedisRuntimeClient) -> None:
        await state.set("text", "é")
        await state.set("number", -7)
        await state.set("bytes", b"\xff\xfe")
        assert await state.get("text") == "é".encode()
        assert await state.get("number") == b"-7"
        assert await state.get("bytes") == b"\xff\xfe"
        assert await state.ping()

    async def test_json_goes_there_and_back(self, state: RedisRuntimeClient) -> None:
        value = {"n": 2**53 + 1, "a": [], "f": 1.0, "é": None}
        await state.set("json", state.dumps(value))
        assert state.loads(await state.get("json")) == value
        assert state.loads(await state.get("missing")) is None
        with pytest.raises(RuntimeStateValueError):
            state.loads(b"\xff")
        with pytest.raises(RuntimeStateArgumentError):
            state.dumps(float("nan"))


class TestC11Batch:
    async def test_no_reader_sees_half_of_it(self, state: RedisRuntimeClient) -> None:
        """Once one read shows the batch, every later read does, whichever key comes first."""

        async def shows() -> AsyncIterator[bool]:
            yield await state.get("a") == b"new"
            yield await state.hget("b", "f") == b"new"
            yield await state.ttl("c") > 100
            yield await state.get("d") is None

        async def watch(done: asyncio.Event) -> None:
            while not done.is_set():
                seen = [shown async for shown in shows()]
                assert seen == sorted(seen), "a later read went back to before the batch"
                await asyncio.sleep(0)

        for _round in range(20):
            await state.set("a", "old")
            await state.hset("b", {"f": "old"})
            await state.set("c", "v", ex=50)
            await state.set("d", "v")
            done = asyncio.Event()
            watchers = [asyncio.create_task(watch(done)) for _ in range(3)]
            await asyncio.sleep(0)
            batch = state.batch()
            batch.set("a", "new")
            batch.hset("b", {"f": "new"})
            batch.expire("c", 1000)
            batch.delete("d")
            assert await batch.execute() == [True, 0, True, 1]
            done.set()
            await asyncio.gather(*watchers)


class TestC16Batch:
    async def test_an_empty_one_does_nothing(self, state: RedisRuntimeClient) -> None:
        assert await state.batch().execute() == []

    async def test_is_executed_once(self, state: RedisRuntimeClient) -> None:
        batch = state.batch()
        batch.set("n", "1")
        await batch.execute()
        with pytest.raises(RuntimeStateBatchSpent):
            await batch.execute()
        with pytest.raises(RuntimeStateBatchSpent):
            batch.set("n", "2")

    async def test_is_refused_beyond_its_bound_and_whole_up_to_it(self, state: RedisRuntimeClient) -> None:
        batch = state.batch()
        batch.hset("h", {str(n): n for n in range(MAX_ARGUMENTS - 1)})
        batch.set("k", "v")
        with pytest.raises(RuntimeStateArgumentError):
            batch.delete("one too many")
        assert await batch.execute() == [MAX_ARGUMENTS - 1, True]
        assert len(await state.hgetall("h")) == MAX_ARGUMENTS - 1

    async def test_ten_thousand_steps_are_refused_before_any_effect(self, state: RedisRuntimeClient) -> None:
        batch = state.batch()
        with pytest.raises(RuntimeStateArgumentError):
            for n in range(10_000):
                batch.set(f"k{n}", "v")
        assert await state.get("k0") is None


class TestC18Increment:
    async def test_two_hundred_tasks_lose_no_update(self, state: RedisRuntimeClient) -> None:
        async def count() -> None:
            for _ in range(5):
                await state.incr("n")

        await asyncio.gather(*(count() for _ in range(200)))
        assert await state.get("n") == b"1000"


class TestC29Cancellation:
    async def test_a_cancelled_batch_is_whole_or_nothing_and_the_client_goes_on(
        self, state: RedisRuntimeClient
    ) -> None:
        for turns in range(40):
            await state.delete("a", "b")
            batch = state.batch()
            batch.set("a", "v" * 1000)
            batch.hset("b", {"f": "v" * 1000})
            task = asyncio.create_task(batch.execute())
            for _ in range(turns // 4):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await asyncio.gather(*(state.ping() for _ in range(3)))
            # What was sent may still be carried out after its caller is gone, so only this order can tell.
            if await state.get("a") is not None:
                assert await state.hget("b", "f") is not None
            await state.delete("a", "b")


async def test_c8_another_prefix_sees_nothing(subject: Subject) -> None:
    await subject.client.set("k", "v")
    async with subject.neighbour() as opened:
        assert await opened.client.get("k") is None
        assert (await opened.client.stats()).active_keys == 0
    assert (await subject.client.stats()).active_keys == 1
