"""A proof of a key is good once at all workers that share the kv tier, and once at each where it is away."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from control_server.operators.store import SeenProofs
from shared.cache import Cache, Tier, TierSettings, open_cache
from shared.kernel.proofs import Proof
from shared.testing.servers import KeyValueServer

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def a_proof() -> Proof:
    return Proof("thumbprint", uuid4().hex, NOW + timedelta(seconds=120))


@pytest.fixture
async def workers(valkey: KeyValueServer) -> AsyncIterator[tuple[SeenProofs, SeenProofs]]:
    settings = TierSettings.model_validate({"url": valkey.url})
    async with AsyncExitStack() as stack:
        caches = [open_cache(settings, Tier.KV, "control", 1) for _ in range(2)]
        for cache in caches:
            stack.push_async_callback(cache.aclose)
        yield SeenProofs(caches[0]), SeenProofs(caches[1])


async def test_m4_a_proof_that_one_worker_took_is_refused_by_all(
    workers: tuple[SeenProofs, SeenProofs],
) -> None:
    one, other = workers
    for first, second in ((one, other), (other, one)):
        proof = a_proof()
        assert [await each.claim(proof, NOW) for each in (first, second, first, second)] == [
            True,
            False,
            False,
            False,
        ]


async def test_m4_other_proofs_are_none_of_its_business(workers: tuple[SeenProofs, SeenProofs]) -> None:
    one, other = workers
    assert [await each.claim(a_proof(), NOW) for each in (one, other, one)] == [True, True, True]


async def test_m4_without_the_tier_each_worker_remembers_its_own() -> None:
    one, other = (SeenProofs(Cache.unconfigured(Tier.KV)) for _ in range(2))
    proof = a_proof()
    assert [await each.claim(proof, NOW) for each in (one, one, other)] == [True, False, True]


async def test_m4_what_is_too_old_anyhow_is_forgotten() -> None:
    seen, proof = SeenProofs(Cache.unconfigured(Tier.KV)), a_proof()
    assert await seen.claim(proof, NOW)
    later = NOW + timedelta(seconds=121)
    assert await seen.claim(Proof("thumbprint", proof.name, later + timedelta(seconds=120)), later)
