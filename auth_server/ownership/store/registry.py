"""What the registry service says of maintainers and AS numbers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
from pydantic import ValidationError

from auth_server.ownership.errors import MaintainerShared, RegistryAway, SubjectUnknown
from auth_server.ownership.rules.challenges import same_name
from auth_server.ownership.schemas import MaintainerFacts
from shared.protocol.registry import AsnIdentities, AuthLine, Identity


@dataclass(frozen=True, slots=True)
class Registry:
    """Asks over HTTP, with a limit of time; whatever is no clear answer is no answer."""

    http: httpx2.AsyncClient
    url: str
    seconds: float
    #: Folded names of maintainers that many people hold; the registry has such a list as well.
    shared: Collection[str]

    async def maintainers_of(self, asn: int) -> list[str]:
        """Who may speak for the AS number. Raises SubjectUnknown, MaintainerShared or RegistryAway."""
        answer = await self._get(f"identity/{asn}")
        if answer is None:
            raise SubjectUnknown
        found = _read(AsnIdentities, answer)
        names = [each.mntner for each in found.mntners if not self.is_shared(each.mntner)]
        if not names:
            raise MaintainerShared
        return names

    async def facts(self, mntner: str, preferred_asn: int | None = None) -> MaintainerFacts:
        """The maintainer as it is now. Raises SubjectUnknown, MaintainerShared or RegistryAway."""
        if self.is_shared(mntner):
            raise MaintainerShared
        record = await self._get(f"mntner/{quote(mntner, safe='')}")
        if record is None or not same_name(str(record.get("mntner", "")), mntner):
            raise SubjectUnknown
        try:
            asns = tuple(int(number) for number in record["asns"])
            lines = tuple(AuthLine.model_validate(line) for line in record["auth"])
        except (KeyError, TypeError, ValueError) as error:
            raise RegistryAway from error
        name = str(record["mntner"])
        for asn in _in_order(asns, preferred_asn):
            answer = await self._get(f"identity/{asn}/{quote(mntner, safe='')}")
            if answer is not None:
                return _with_identity(name, asns, _read(Identity, answer))
        return MaintainerFacts(name, lines, (), None, {"mntner": name})

    def is_shared(self, mntner: str) -> bool:
        """Whether the maintainer never proves ownership."""
        return mntner.casefold() in self.shared

    async def _get(self, path: str) -> dict[str, Any] | None:
        """The answer; None where the registry has no such thing. Raises RegistryAway."""
        address = f"{self.url}/registry/api/v1/{path}"
        try:
            answer = await self.http.get(address, timeout=self.seconds, follow_redirects=False)
            missing = answer.status_code == httpx2.codes.NOT_FOUND
            found = answer.json() if missing or answer.status_code == httpx2.codes.OK else None
        except (httpx2.HTTPError, ValueError, RecursionError) as error:
            raise RegistryAway from error
        # Whatever stands before the registry has 404s of its own; the registry's have a code.
        if not isinstance(found, dict) or (missing and "code" not in found):
            raise RegistryAway
        return None if missing else found


def _in_order(asns: Collection[int], preferred: int | None) -> list[int]:
    """The preferred one first, and only one other is tried."""
    others = [asn for asn in sorted(asns) if asn != preferred][:1]
    return [preferred, *others] if preferred is not None and preferred in asns else others


def _with_identity(name: str, asns: tuple[int, ...], found: Identity) -> MaintainerFacts:
    claims = found.claims.model_dump(mode="json")
    return MaintainerFacts(name, found.auth, asns, found.asn, claims)


def _read(model: Any, answer: dict[str, Any]) -> Any:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        raise RegistryAway from error
