"""The whole look at a deployment, part by part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from routeloom.doctor.clocks import look_at_clocks
from routeloom.doctor.databases import look_at_databases
from routeloom.doctor.findings import Finding, problem
from routeloom.doctor.host import look_at_host
from routeloom.doctor.network import look_at_network
from routeloom.doctor.persistence import look_at_persistence
from routeloom.doctor.published import look_at_published
from routeloom.doctor.tiers import look_at_tiers

if TYPE_CHECKING:
    from routeloom.doctor.deployment import Deployment

Look = Callable[[], Coroutine[Any, Any, list[Finding]]]


async def examine(
    deployment: Deployment, *, state_may_share: bool = False, tell: Callable[[str], None] = lambda _: None
) -> list[Finding]:
    """Every finding; a part that breaks is a finding of its own and keeps no other from being looked at."""

    async def host() -> list[Finding]:
        found = await asyncio.to_thread(look_at_host, deployment)
        return [*found, *await asyncio.to_thread(look_at_published, deployment)]

    parts: dict[str, Look] = {
        "this host": host,
        "databases": lambda: look_at_databases(deployment),
        "tiers": lambda: look_at_tiers(deployment, state_may_share=state_may_share),
        "persistence": lambda: look_at_persistence(deployment),
        "clocks": lambda: look_at_clocks(deployment),
        "addresses": lambda: look_at_network(deployment),
    }
    found = list(deployment.findings)
    for name, look in parts.items():
        tell(name)
        try:
            found += await look()
        except Exception as error:  # noqa: BLE001 - the one place where a bug must not hide the other findings
            text = f"The look at {name} broke off: {type(error).__name__}: {error}"
            found.append(problem("doctor", text, "routeloom --version   # and report it with this sentence"))
    return list(dict.fromkeys(found))
