"""Many who ask at once share one act."""

import asyncio
from collections.abc import Collection, Mapping

import pytest

from shared.database.errors import DatabaseUnavailable
from shared.kernel.gathering import Gathering


class Table:
    """Answers when it is let."""

    def __init__(self) -> None:
        self.rows = {f"r{number}": number for number in range(10)}
        self.asked: list[set[str]] = []
        self.open = asyncio.Event()
        self.refuses = False

    async def look_up(self, node_ids: Collection[str]) -> Mapping[str, int]:
        self.asked.append(set(node_ids))
        await self.open.wait()
        if self.refuses:
            raise DatabaseUnavailable
        return {name: self.rows[name] for name in node_ids if name in self.rows}


async def begun(*tasks: asyncio.Task[int | None]) -> None:
    """Let them run until they wait."""
    for _ in range(5):
        await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)


async def test_those_who_ask_while_one_looks_share_the_next_look() -> None:
    table = Table()
    newest = Gathering(table.look_up)
    tasks = [asyncio.create_task(newest.of(f"r{number}")) for number in range(10)]
    await begun(*tasks)
    late = asyncio.create_task(newest.of("r3"))
    await begun(late)
    assert len(table.asked) == 1
    table.open.set()
    assert await asyncio.gather(*tasks) == list(range(10))
    assert await late == 3
    assert sum(map(len, table.asked)) <= 11
    assert len(table.asked) <= 2


async def test_an_answer_is_never_older_than_the_question() -> None:
    table = Table()
    newest = Gathering(table.look_up)
    first = asyncio.create_task(newest.of("r1"))
    await begun(first)
    table.rows["r1"] = 7
    second = asyncio.create_task(newest.of("r1"))
    await begun(second)
    table.open.set()
    assert await second == 7
    assert len(table.asked) == 2
    await first


async def test_there_may_be_no_such_node() -> None:
    table = Table()
    table.open.set()
    assert await Gathering(table.look_up).of("away") is None


async def test_one_who_gives_up_leaves_the_look_to_the_next() -> None:
    table = Table()
    newest = Gathering(table.look_up)
    first, second = asyncio.create_task(newest.of("r1")), asyncio.create_task(newest.of("r2"))
    await begun(first, second)
    first.cancel()
    table.open.set()
    assert await second == 2
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_refusal_is_told_to_all_who_waited_and_to_nobody_later() -> None:
    table = Table()
    table.refuses = True
    newest = Gathering(table.look_up)
    tasks = [asyncio.create_task(newest.of(f"r{number}")) for number in range(4)]
    await begun(*tasks)
    table.open.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, DatabaseUnavailable) for outcome in outcomes)
    table.refuses = False
    assert await newest.of("r5") == 5
