"""What the registry says of an AS number, a maintainer or an origin."""

from __future__ import annotations

from dataclasses import dataclass

from registry_server.keys import ASN_RECORD, MNTNER_RECORD, ROUTES_RECORD
from registry_server.lookup.errors import AsnUnknown, MntnerUnknown
from registry_server.lookup.repository.objects import LookupRepository
from registry_server.lookup.rules.records import asn_record, mntner_record, routes_record
from registry_server.lookup.rules.stored import read_asn
from registry_server.lookup.schemas import AsnRecord, MntnerRecord, RoutesRecord
from registry_server.lookup.service.answers import VersionedAnswers
from registry_server.objects.rules.classes import fold

#: No answer grows without a bound, whatever a registry holds.
MOST_ROUTES = 10_000


@dataclass(frozen=True, slots=True)
class LookupService:
    """What the registry says."""

    answers: VersionedAnswers

    async def asn(self, asn: str) -> AsnRecord:
        """An AS number. Raises AsnUnknown or InvalidInput."""
        number = read_asn(asn, "asn")

        async def load(repository: LookupRepository) -> AsnRecord | None:
            found = await repository.find_aut_num(number)
            return asn_record(number, found) if found else None

        record = await self.answers.find(
            AsnRecord, lambda version: ASN_RECORD.key(version=version, asn=number), load
        )
        if record is None:
            raise AsnUnknown.of(number)
        return record

    async def mntner(self, name: str) -> MntnerRecord:
        """A maintainer, in any case of the name. Raises MntnerUnknown."""
        folded = fold(name)
        if not folded or not folded.isprintable():
            raise MntnerUnknown  # PostgreSQL takes no NUL, and no key has a control character

        async def load(repository: LookupRepository) -> MntnerRecord | None:
            found = await repository.find_mntner(folded)
            return mntner_record(found, await repository.list_maintained_asns(folded)) if found else None

        record = await self.answers.find(
            MntnerRecord, lambda version: MNTNER_RECORD.key(version=version, name=folded), load
        )
        if record is None:
            raise MntnerUnknown
        return record

    async def routes(self, origin: str) -> RoutesRecord:
        """The prefixes of an origin; an AS that the registry does not know has none. Raises InvalidInput."""
        number = read_asn(origin, "origin")

        async def load(repository: LookupRepository) -> RoutesRecord:
            routes = await repository.list_routes(number, MOST_ROUTES + 1)
            maintainers = await repository.list_route_maintainers(number, MOST_ROUTES)
            record = routes_record(number, routes[:MOST_ROUTES], maintainers)
            return record.model_copy(update={"truncated": len(routes) > MOST_ROUTES})

        record = await self.answers.find(
            RoutesRecord, lambda version: ROUTES_RECORD.key(version=version, asn=number), load
        )
        return record or RoutesRecord(origin=number, routes=[])
