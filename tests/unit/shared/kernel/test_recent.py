import asyncio
from dataclasses import dataclass

import pytest

from shared.kernel.recent import Recent, Unread


@dataclass
class Seconds:
    """A clock that is turned by hand."""

    at: float = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def recent(seconds: Seconds) -> Recent[str, int]:
    return Recent(seconds=seconds)


class TestFind:
    def test_finds_what_was_read_within_its_life(self, recent: Recent[str, int], seconds: Seconds) -> None:
        recent.keep("a", 1, recent.changes)
        seconds.at += 0.99
        assert recent.find("a", None) == 1
        seconds.at += 0.01
        assert recent.find("a", None) is None

    def test_knows_nothing_that_nobody_read(self, recent: Recent[str, int]) -> None:
        assert recent.find("a", None) is None

    def test_tells_what_is_not_from_what_nobody_read(self) -> None:
        recent: Recent[str, int | None] = Recent()
        recent.keep("a", None, recent.changes)
        assert recent.find("a", Unread.UNREAD) is None
        assert recent.find("b", Unread.UNREAD) is Unread.UNREAD

    def test_keeps_so_many_at_most(self) -> None:
        recent: Recent[int, int] = Recent(most=3)
        for number in range(4):
            recent.keep(number, number, recent.changes)
        assert [recent.find(number, None) for number in range(4)] == [None, None, None, 3]


class TestForget:
    async def test_forgets_everything(self, recent: Recent[str, int]) -> None:
        for key in "ab":
            recent.keep(key, 1, recent.changes)
        await recent.forget()
        assert (recent.find("a", None), recent.find("b", None)) == (None, None)

    async def test_keeps_nothing_that_was_read_before_a_change(self, recent: Recent[str, int]) -> None:
        changes = recent.changes
        await recent.forget()
        recent.keep("a", 1, changes)
        assert recent.find("a", None) is None


async def test_of_many_who_ask_at_once_one_reads() -> None:
    recent: Recent[str, int] = Recent()
    reads = 0

    async def ask(key: str) -> int:
        nonlocal reads
        async with recent.turn(key):
            found = recent.find(key, Unread.UNREAD)
            if found is not Unread.UNREAD:
                return found
            changes = recent.changes
            reads += 1
            await asyncio.sleep(0)
            recent.keep(key, len(key), changes)
            return len(key)

    assert await asyncio.gather(*(ask(key) for key in ["a", "bb", "a", "bb", "a"])) == [1, 2, 1, 2, 1]
    assert reads == 2


async def test_whoever_fails_to_read_holds_up_nobody() -> None:
    recent: Recent[str, int] = Recent()
    with pytest.raises(ZeroDivisionError):
        async with recent.turn("a"):
            _ = 1 / 0
    async with asyncio.timeout(20), recent.turn("a"):
        recent.keep("a", 1, recent.changes)
    assert recent.find("a", None) == 1
