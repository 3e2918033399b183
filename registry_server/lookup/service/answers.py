"""Answers from the cache tier where it has the record of the current version, else from SQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from registry_server.lookup.repository.objects import LookupRepository
from registry_server.lookup.store import RecordStore
from shared.cache import Key
from shared.database import Database

Record = TypeVar("Record", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class VersionedAnswers:
    """Records of one version of the index, never of two."""

    database: Database
    store: RecordStore

    async def find(
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
