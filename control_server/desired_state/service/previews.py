"""Previews of configurations: what a change would write, before anybody publishes it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from control_server.desired_state.errors import PreviewFileNotFound, PreviewNotFound
from control_server.desired_state.rules import previews as rules
from control_server.desired_state.schemas import NodeChange, NodeFacts, PreviewCreate, PreviewRead
from control_server.desired_state.store import PreviewStore
from control_server.nodes.schemas import NodeRead
from control_server.nodes.service import NodeService
from shared.kernel.clock import Clock
from shared.kernel.ids import short_id
from shared.kernel.principal import Principal

_ID_LENGTH = 20


@dataclass(frozen=True, slots=True)
class PreviewService:
    """Renders from the facts in SQL and keeps the result for a while."""

    #: The facts, in a session that is closed before the store is asked.
    reading_nodes: Callable[[], AbstractAsyncContextManager[NodeService]]
    previews: PreviewStore
    now: Clock

    async def create(self, actor: Principal, wanted: PreviewCreate) -> PreviewRead:
        """Render the change under a fresh id.

        Raises NodeNotFound, or RuntimeStateCapacityExceeded for a bundle that is too large just now.
        """
        present = await self._facts(wanted.nodes)
        proposed = [rules.changed_facts(present[change.node_id], change) for change in wanted.nodes]
        bundle = rules.render_bundle(proposed, wanted)
        files = rules.list_files(bundle)
        manifest = PreviewRead(
            id=f"rt_{short_id(_ID_LENGTH)}",
            created_at=self.now(),
            created_by=actor.name,
            expires_in=int(self.previews.ttl.total_seconds()),
            nodes=sorted(facts.node_id for facts in proposed),
            changed=sorted(facts.node_id for facts in proposed if facts != present[facts.node_id]),
            sha256=rules.digest_of_all(files),
            files=files,
        )
        await self.previews.put(manifest, bundle)
        return manifest

    async def get(self, ident: str) -> PreviewRead:
        """The manifest. Raises PreviewNotFound."""
        found = await self.previews.find(ident)
        if found is None:
            raise PreviewNotFound
        return found

    async def get_configuration(self, ident: str) -> bytes:
        """The whole configuration. Raises PreviewNotFound."""
        found = await self.previews.find_configuration(ident)
        if found is None:
            raise PreviewNotFound
        return found

    async def get_module(self, ident: str, path: str) -> bytes:
        """One text of the bundle. Raises PreviewNotFound or PreviewFileNotFound."""
        return await self._content(ident, await self.previews.find_module(ident, path))

    async def get_asset(self, ident: str, path: str) -> bytes:
        """One binary file of the bundle. Raises PreviewNotFound or PreviewFileNotFound."""
        return await self._content(ident, await self.previews.find_asset(ident, path))

    async def close(self, ident: str) -> None:
        """Remove the preview. Raises PreviewNotFound when it is gone already."""
        if not await self.previews.remove(ident):
            raise PreviewNotFound

    async def _content(self, ident: str, content: bytes | None) -> bytes:
        if content is not None:
            return content
        if await self.previews.find(ident) is None:
            raise PreviewNotFound
        raise PreviewFileNotFound

    async def _facts(self, changes: list[NodeChange]) -> dict[str, NodeFacts]:
        async with self.reading_nodes() as nodes:
            return {change.node_id: _facts_of(await nodes.get(change.node_id)) for change in changes}


def _facts_of(node: NodeRead) -> NodeFacts:
    return NodeFacts(
        node_id=node.node_id,
        site=node.site,
        description=node.description,
        labels=node.labels,
        allow_targets=tuple(node.allow_targets),
        deny_targets=tuple(node.deny_targets),
    )
