"""The key-value servers: versions, policies, keys without an end, and what must not share an instance."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from routeloom.doctor.findings import Finding, good, note, problem
from shared.cache import (
    Cache,
    Tier,
    TierInformation,
    TierMisconfigured,
    TierSettings,
    TierUnavailable,
    open_cache,
)
from shared.cache.health import problems_of

if TYPE_CHECKING:
    from routeloom.doctor.deployment import Deployment

#: Databases of each server that are ours, with how many keys may live there without an end. Database 0 of
#: kv is the captcha service's, whose keys have none.
_OURS = {Tier.KV: {1: 0, 2: 0}, Tier.CACHE: {1: 0, 2: 0, 3: 1}}
_OLDEST = {Tier.KV: (7, 2), Tier.CACHE: (6, 2)}
_PATIENCE = timedelta(seconds=3)
_COMMAND_LINE = {Tier.KV: "valkey-cli", Tier.CACHE: "redis-cli"}
_SERVICES = {Tier.KV: "valkey", Tier.CACHE: "redis"}


@dataclass(frozen=True, slots=True)
class Server:
    """One use of a key-value server by a service."""

    what: str
    tier: Tier
    settings: TierSettings
    database: int


def servers(deployment: Deployment) -> Iterator[Server]:
    """Every tier, and the runtime state and the durable loops where they are on a server."""
    for name, settings in deployment.services.items():
        for tier in Tier:
            found = getattr(settings, tier.value, None)
            if isinstance(found, TierSettings) and found.url is not None:
                yield Server(f"{tier} of {name}", tier, found, {"control": 1, "auth": 2, "registry": 3}[name])


def states(deployment: Deployment) -> Iterator[Server]:
    """Where the runtime state and the durable loops are kept."""
    for name, settings in deployment.services.items():
        state = getattr(settings, "runtime_state", None)
        durable = getattr(settings, "durable", None)
        if state is not None and not state.url.get_secret_value().startswith("memory:"):
            yield _state(f"the runtime state of {name}", state.url, 0)
        if durable is not None and durable.url is not None and not durable.cluster:
            yield _state(f"the durable loops of {name}", durable.url, 1)


def _state(what: str, url: object, database: int) -> Server:
    return Server(what, Tier.KV, TierSettings.model_validate({"url": url}), database)


@asynccontextmanager
async def opened(server: Server) -> AsyncIterator[Cache]:
    """The server, patiently: this is no request of a person."""
    patient = server.settings.model_copy(update={"deadline": _PATIENCE})
    cache = open_cache(patient, server.tier, "doctor", server.database)
    try:
        yield cache
    finally:
        await cache.aclose()


async def look_at_tiers(deployment: Deployment, *, state_may_share: bool) -> list[Finding]:
    """Findings about every server that a service uses."""
    found: list[Finding] = []
    kv: dict[str, str] = {}
    for server in servers(deployment):
        seen, finding = await _seen(server)
        found.append(finding)
        if seen is None:
            continue
        found += _described(server, seen)
        if server.tier is Tier.KV:
            kv[seen.run_id] = server.what
    for server in states(deployment):
        seen, finding = await _seen(server)
        found.append(finding)
        if seen is not None:
            found += [*_state_policy(server, seen), *_shared(server, kv.get(seen.run_id), state_may_share)]
    return list(dict.fromkeys(found))


async def _seen(server: Server) -> tuple[TierInformation | None, Finding]:
    try:
        async with opened(server) as cache:
            seen = await cache.info()
    except TierMisconfigured as refusal:
        return None, problem("reachability", f"{server.what}: {refusal.detail}", "mend its URL")
    except TierUnavailable as refusal:
        remedy = f"docker compose -f docker-compose/compose.yaml logs {_SERVICES[server.tier]}"
        return None, problem("reachability", f"{server.what} does not answer: {refusal.detail}", remedy)
    return seen, good("reachability", f"{server.what} answers.")


def _described(server: Server, seen: TierInformation) -> Iterator[Finding]:
    yield _version(server, seen)
    wrong = [
        each for each in problems_of(server.tier, server.database, seen) if each.code != "keys_without_ttl"
    ]
    for each in wrong:
        sentence, _, remedy = each.message.partition(": ")
        yield problem(each.code, f"{server.what}: {sentence}.", remedy or _look(server.tier))
    if not wrong:
        yield good("policy", f"{server.what}: {seen.policy}, as it must be.")
    yield from _without_end(server, seen)


def _version(server: Server, seen: TierInformation) -> Finding:
    oldest = _OLDEST[server.tier]
    numbers = tuple(int(part) for part in re.findall(r"\d+", seen.version)[:2])
    if numbers < oldest:
        wanted = ".".join(str(part) for part in oldest)
        text = f"{server.what} is version {seen.version or 'unknown'}; {wanted} or newer is needed."
        return problem("versions", text, f"docker compose pull {_SERVICES[server.tier]}")
    return good("versions", f"{server.what} is version {seen.version}.")


def _without_end(server: Server, seen: TierInformation) -> Iterator[Finding]:
    allowed = _OURS[server.tier].get(server.database)
    if allowed is None:
        yield note(
            "keys_without_ttl", f"{server.what} is in database {server.database}, which is not a usual one."
        )
        return
    without = seen.keys_without_ttl(server.database)
    if without > allowed:
        program = _COMMAND_LINE[server.tier]
        container = f"docker-compose-{_SERVICES[server.tier]}-1"
        yield problem(
            "keys_without_ttl",
            f"{server.what}: {without} keys of database {server.database} never expire.",
            f"docker exec {container} {program} -n {server.database} --scan"
            f"   # then `{program} TTL` of each: whose are they?",
        )
    else:
        yield good("keys_without_ttl", f"{server.what}: every key of database {server.database} has its end.")


def _state_policy(server: Server, seen: TierInformation) -> Iterator[Finding]:
    if seen.policy == "noeviction":
        yield good("policy", f"{server.what}: noeviction, as it must be.")
    else:
        text = f"{server.what} is on a server that evicts ({seen.policy})."
        yield problem("policy", text, "valkey-cli CONFIG SET maxmemory-policy noeviction")


def _shared(server: Server, kv: str | None, state_may_share: bool) -> Iterator[Finding]:
    if kv is None:
        yield good("instances", f"{server.what} is on a server of its own.")
        return
    text = (
        f"{server.what} is on the same server as {kv}, where the captcha keeps its keys:"
        " if it grows, sign-in stops."
    )
    if state_may_share:
        yield note("instances", text)
    else:
        remedy = "point its URL at valkey-state, or say --state-may-share"
        yield problem("instances", text, remedy)


def _look(tier: Tier) -> str:
    return f"docker exec docker-compose-{_SERVICES[tier]}-1 {_COMMAND_LINE[tier]} info"
