"""Whether the clocks of this host and of others agree: tokens, signatures and leases hang on them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from routeloom.doctor.findings import Finding, good, note, problem
from routeloom.doctor.tiers import opened, servers, states
from shared.cache import TierMisconfigured, TierUnavailable

if TYPE_CHECKING:
    from routeloom.doctor.deployment import Deployment

#: A little is jitter, more wants looking at, much makes tokens of one host worthless at another.
_NOTICED, _TOO_FAR = timedelta(seconds=1), timedelta(seconds=5)
_REMEDY = "timedatectl set-ntp true   # on the host whose clock is wrong"


def compared(whose: str, told: datetime, here: datetime, resolution: timedelta) -> Finding:
    """The difference of another clock to this one, beyond what its resolution explains."""
    apart = max(abs(told - here) - resolution, timedelta(0))
    seconds = f"{apart.total_seconds():.1f} s"
    if apart >= _TOO_FAR:
        return problem("clocks", f"The clock of {whose} is {seconds} from this host's.", _REMEDY)
    if apart >= _NOTICED:
        return note("clocks", f"The clock of {whose} is {seconds} from this host's.", _REMEDY)
    return good("clocks", f"The clock of {whose} agrees with this host's.")


async def look_at_clocks(deployment: Deployment) -> list[Finding]:
    """The clocks of the key-value servers; those that do not answer are said elsewhere."""
    found = []
    for server in (*servers(deployment), *states(deployment)):
        try:
            async with opened(server) as cache:
                before = datetime.now(UTC)
                told = await cache.server_time()
                after = datetime.now(UTC)
        except (TierMisconfigured, TierUnavailable):
            continue
        found.append(compared(server.what, told, before + (after - before) / 2, timedelta(0)))
    return found
