"""From a target to the one literal address that the tool is given."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from node_agent.threads import in_thread
from shared.kernel.errors import AppError, Kind
from shared.kernel.targets import Address, HostName, TargetPolicy, TargetRefused, parse_address

Family = Literal[4, 6]
#: All addresses of a name, in the resolver's order.
Resolve = Callable[[str], Awaitable[Sequence[Address]]]
#: Whether this host has a way to the address at all.
Routable = Callable[[Address], bool]

_RESOLVE_SECONDS = 5.0
#: Only names a port so that the kernel can look for a route; nothing is sent there.
_DISCARD_PORT = 9


class TargetUnresolved(AppError):
    """The name has no address."""

    kind = Kind.INVALID
    code = "target_unresolved"


@dataclass(frozen=True, slots=True)
class Choice:
    """The address to probe, and what was passed over on the way."""

    address: Address
    notes: tuple[str, ...] = field(default=())


async def resolve_name(name: str) -> list[Address]:
    """All addresses that the host's resolver knows for the name. Raises TargetUnresolved."""
    try:
        async with asyncio.timeout(_RESOLVE_SECONDS):
            found = await in_thread(lambda: socket.getaddrinfo(name, None, type=socket.SOCK_DGRAM))
    except TimeoutError:
        raise TargetUnresolved(f"The resolver gave no answer for {name} in time.") from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no answer"
        raise TargetUnresolved(f"{name} does not resolve: {reason}.") from None
    return [parse_address(str(entry[4][0])) for entry in found]


def has_route(address: Address) -> bool:
    """Whether the kernel knows a route; connecting a datagram socket sends nothing."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET  # noqa: PLR2004 - IP version
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((str(address), _DISCARD_PORT))
        return True
    return False


@dataclass(frozen=True, slots=True)
class Chooser:
    """Resolves once and judges every answer: a name that changes its answer later changes nothing."""

    resolve: Resolve = resolve_name
    routable: Routable = has_route

    async def choose(self, target: Address | HostName, family: Family | None, policy: TargetPolicy) -> Choice:
        """The address to probe. Raises TargetUnresolved or TargetRefused.

        Each family is judged on its own: a refused IPv6 answer leaves an allowed IPv4 one usable.
        IPv6 is preferred where this host has a route to it.
        """
        if not isinstance(target, HostName):
            if family is not None and target.version != family:
                raise TargetRefused(f"{target} is not an IPv{family} address.")
            policy.check(target)
            return Choice(target)
        answers = dict.fromkeys(await self.resolve(target.text))
        wanted = [address for address in answers if family in {None, address.version}]
        if not wanted:
            raise TargetUnresolved(f"{target} has no {f'IPv{family} ' if family else ''}address.")
        return self._pick(target, wanted, policy)

    def _pick(self, target: HostName, wanted: Sequence[Address], policy: TargetPolicy) -> Choice:
        refusals = {address: policy.refusal(address) for address in wanted}
        notes = tuple(f"{target}: {address} {reason}." for address, reason in refusals.items() if reason)
        allowed = sorted((a for a in wanted if refusals[a] is None), key=lambda a: -a.version)
        if not allowed:
            raise TargetRefused(" ".join(notes))
        return Choice(next(filter(self.routable, allowed), allowed[0]), notes)
