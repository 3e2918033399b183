"""Names of autonomous systems, as the registry service knows them."""

from __future__ import annotations

from dataclasses import dataclass

import httpx2

from control_server.keys import AS_NAME
from control_server.nodes.rules import as_number
from shared.cache import Cache
from shared.kernel.errors import Unavailable

_TTL_SECONDS = 3600


class RegistryUnavailable(Unavailable):
    """The registry service does not answer."""

    code = "registry_unavailable"


@dataclass(frozen=True, slots=True)
class AsNames:
    """Asks the registry once an hour for each AS; an AS without a name is remembered as well."""

    cache: Cache
    http: httpx2.AsyncClient
    registry_url: str

    async def name_of(self, label: str) -> str | None:
        """The name of the AS that a label says; None where there is none, or nobody answers now."""
        number = as_number(label)
        if number is None:
            return None
        try:
            name: str | None = await self.cache.get_or_load(
                AS_NAME.key(asn=number), lambda: self._ask(number), ttl_seconds=_TTL_SECONDS
            )
        except Unavailable:
            return None
        return name

    async def _ask(self, number: int) -> str | None:
        try:
            answer = await self.http.get(f"{self.registry_url}/registry/api/v1/asn/{number}")
        except httpx2.TransportError:
            raise RegistryUnavailable from None
        if answer.status_code == httpx2.codes.NOT_FOUND:
            return None
        if not answer.is_success:
            raise RegistryUnavailable
        return answer.json().get("as_name") or None
