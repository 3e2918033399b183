"""Answers look-ups: from the cache tier where it has the record of the current version, else from SQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from registry_server.keys import ASN_RECORD, MNTNER_RECORD, ROUTES_RECORD
from registry_server.lookup.errors import AsnUnknown, MntnerUnknown
from registry_server.lookup.repository import LookupRepository
from registry_server.lookup.rules import asn_record, mntner_record, read_asn, routes_record
from registry_server.lookup.schemas import AsnRecord, MntnerRecord, RoutesRecord
from registry_server.lookup.store import RecordStore
from registry_server.objects.rules.classes import fold
from shared.cache import Key
from shared.database import Database

Record = TypeVar("Record", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class LookupService:
    """What the registry says."""

    database: Database
    store: RecordStore

    async def asn(self, asn: str) -> AsnRecord:
        """An AS number. Raises AsnUnknown or InvalidInput."""
        number = read_asn(asn, "asn")

        async def load(repository: LookupRepository) -> AsnRecord | None:
            found = await repository.find_aut_num(number)
            return asn_record(number, found) if found else None

        record = await self._answer(
            AsnRecord, lambda version: ASN_RECORD.key(version=version, asn=number), load
        )
        if record is None:
            raise AsnUnknown(f"The registry knows no AS{number}.")
        return record

    async def mntner(self, name: str) -> MntnerRecord:
        """A maintainer, in any case of the name. Raises MntnerUnknown."""
        folded = fold(name)
        if not folded or not folded.isprintable():
            raise MntnerUnknown  # PostgreSQL takes no NUL, and no key has a control character

        async def load(repository: LookupRepository) -> MntnerRecord | None:
            found = await repository.find_mntner(folded)
            return mntner_record(found, await repository.list_maintained_asns(folded)) if found else None

        record = await self._answer(
            MntnerRecord, lambda version: MNTNER_RECORD.key(version=version, name=folded), load
        )
        if record is None:
            raise MntnerUnknown
        return record

    async def routes(self, origin: str) -> RoutesRecord:
        """The prefixes of an origin; an AS that the registry does not know has none. Raises InvalidInput."""
        number = read_asn(origin, "origin")

        async def load(repository: LookupRepository) -> RoutesRecord:
            maintainers = await repository.list_route_maintainers(number)
            return routes_record(number, await repository.list_routes(number), maintainers)

        record = await self._answer(
            RoutesRecord, lambda version: ROUTES_RECORD.key(version=version, asn=number), load
        )
        return record or RoutesRecord(origin=number, routes=[])

    async def _answer(
        self,
        model: type[Record],
        key_at: Callable[[int], Key],
        load: Callable[[LookupRepository], Awaitable[Record | None]],
    ) -> Record | None:
        """The version is read first, and a record is kept only under the version that its snapshot shows.

        So a sync between any two steps leads to no record kept, never to old data under a new version.
        """
        version = await self.store.version()
        if version is not None and (kept := await self.store.find(key_at(version), version)):
            return None if kept.record is None else model.model_validate(kept.record)
        async with self.database.reading() as session:
            repository = LookupRepository(session)
            shown = await repository.version()
            record = await load(repository)
        if version is not None and shown == version:
            await self.store.keep(
                key_at(version), version, record.model_dump(mode="json") if record else None
            )
        return record
