from collections.abc import AsyncIterator

import pytest

from shared.runtime_state import MemoryLimits, RedisRuntimeClient
from tests.contracts.runtime_state.subjects import HandClock, MemorySubject, memory_subject

BUDGET = 1000
ITEM = 400


@pytest.fixture
async def memory() -> AsyncIterator[MemorySubject]:
    """A budget of 1000 bytes and 400 for one item, the prefix included, and a clock turned by hand."""
    async with memory_subject(MemoryLimits(BUDGET, ITEM)) as subject:
        yield subject


@pytest.fixture
def state(memory: MemorySubject) -> RedisRuntimeClient:
    return memory.client


@pytest.fixture
def clock(memory: MemorySubject) -> HandClock:
    return memory.clock
