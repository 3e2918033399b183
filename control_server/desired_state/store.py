"""Previews in the runtime state, written whole or not at all; published generations on the cache tier."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from control_server.desired_state.schemas import Bundle, PreviewRead
from control_server.keys import DESIRED_STATE
from control_server.runtime_keys import (
    ARTIFACT_ASSETS,
    ARTIFACT_BUNDLE,
    ARTIFACT_MANIFEST,
    ARTIFACT_META,
    ARTIFACT_MODULES,
)
from shared.cache import Cache
from shared.protocol.desired_state.document import PublishedState
from shared.runtime_state import RedisRuntimeClient

_HOUR_SECONDS = 3600

_PARTS = (ARTIFACT_MANIFEST, ARTIFACT_BUNDLE, ARTIFACT_MODULES, ARTIFACT_ASSETS, ARTIFACT_META)


@dataclass(frozen=True, slots=True)
class PreviewStore:
    """Bundles by preview. An id is never used twice, so an old one never shows something else."""

    state: RedisRuntimeClient
    ttl: timedelta

    async def put(self, manifest: PreviewRead, bundle: Bundle) -> None:
        """Store all parts in one step. Raises RuntimeStateCapacityExceeded before anything is written."""
        batch, ident = self.state.batch(), manifest.id
        batch.set(ARTIFACT_MANIFEST.key(id=ident), manifest.model_dump_json(), ex=self.ttl)
        batch.set(ARTIFACT_BUNDLE.key(id=ident), bundle.configuration, ex=self.ttl)
        meta = {
            "created_at": manifest.created_at.isoformat(),
            "created_by": manifest.created_by,
            "sha256": manifest.sha256,
        }
        batch.hset(ARTIFACT_META.key(id=ident), meta)
        batch.expire(ARTIFACT_META.key(id=ident), self.ttl)
        # A hash without fields does not exist.
        if bundle.modules:
            batch.hset(ARTIFACT_MODULES.key(id=ident), bundle.modules)
            batch.expire(ARTIFACT_MODULES.key(id=ident), self.ttl)
        if bundle.assets:
            batch.hset(ARTIFACT_ASSETS.key(id=ident), bundle.assets)
            batch.expire(ARTIFACT_ASSETS.key(id=ident), self.ttl)
        await batch.execute()

    async def find(self, ident: str) -> PreviewRead | None:
        """The manifest."""
        raw = await self.state.get(ARTIFACT_MANIFEST.key(id=ident))
        return PreviewRead.model_validate_json(raw) if raw is not None else None

    async def find_configuration(self, ident: str) -> bytes | None:
        """The whole configuration as one text."""
        return await self.state.get(ARTIFACT_BUNDLE.key(id=ident))

    async def find_module(self, ident: str, path: str) -> bytes | None:
        """One text of the bundle."""
        return await self.state.hget(ARTIFACT_MODULES.key(id=ident), path)

    async def find_asset(self, ident: str, path: str) -> bytes | None:
        """One binary file of the bundle."""
        return await self.state.hget(ARTIFACT_ASSETS.key(id=ident), path)

    async def remove(self, ident: str) -> bool:
        """Remove all parts in one step; False when there was nothing."""
        batch = self.state.batch()
        batch.delete(*(family.key(id=ident) for family in _PARTS))
        removed = await batch.execute()
        return removed != [0]


@dataclass(frozen=True, slots=True)
class PublishedStates:
    """Generations as agents pull them. A generation never changes, so what is kept is never wrong."""

    cache: Cache
    #: The row from SQL, in a session of its own: a load may outlive the one who asked first.
    load: Callable[[str, int], Awaitable[PublishedState]]

    async def get(self, node_id: str, number: int) -> PublishedState:
        """The generation. Raises GenerationNotFound."""

        async def load() -> Any:
            return (await self.load(node_id, number)).model_dump(mode="json")

        key = DESIRED_STATE.key(node=node_id, generation=number)
        found = await self.cache.get_or_load(key, load, ttl_seconds=_HOUR_SECONDS)
        return PublishedState.model_validate(found)
