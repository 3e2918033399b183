"""Large values go back to the system one by one."""

import resource
from pathlib import Path

from shared.runtime_state.allocation import keep_large_values_apart
from shared.runtime_state.client import create_runtime_state_client

MIB = 2**20


def test_the_threshold_is_fixed() -> None:
    assert keep_large_values_apart()


async def test_each_large_value_that_goes_gives_its_own_memory_back() -> None:
    client = create_runtime_state_client("memory://large", prefix="large:")
    try:
        for number in range(8):
            await client.set(f"{number}", b"x" * (4 * MIB))
        before = resident()
        # The first of them lies below all the others.
        await client.delete("0")
        assert before - resident() > 3 * MIB
    finally:
        await client.aclose()


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
