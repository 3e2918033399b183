"""The history of what was published, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

from control_server.audit.service import Audit
from control_server.desired_state.errors import GenerationNotFound
from control_server.desired_state.models import Generation
from control_server.desired_state.repository import GenerationRepository
from control_server.desired_state.rules.differences import differences, file_differences
from control_server.desired_state.rules.previews import PREVIEW_VERSION, rendered_files
from control_server.desired_state.schemas import (
    GenerationDetail,
    GenerationDiff,
    GenerationPage,
    GenerationSummary,
    RenderedFiles,
)
from control_server.nodes.schemas import NodeFactsRead
from control_server.nodes.service import NodeFacts
from control_server.observations.service import Observations
from control_server.peerings.service import PeeringRegister
from control_server.policy.service import Publisher
from shared.kernel.principal import Principal
from shared.protocol.desired_state.document import DesiredState, PublishedState
from shared.rendering.versions import BirdVersion


@dataclass(frozen=True, slots=True)
class Generations:
    """Generations as one session sees them."""

    rows: GenerationRepository
    nodes: NodeFacts
    peerings: PeeringRegister
    observations: Observations
    publisher: Publisher
    audit: Audit

    async def list(self, node_id: str, before: int | None, limit: int) -> GenerationPage:
        """One page, newest first. Raises NodeNotFound."""
        await self.nodes.get(node_id)
        found = await self.rows.list(node_id, before, limit + 1)
        items = [_summary(row) for row in found[:limit]]
        return GenerationPage(items=items, next_before=items[-1].number if len(found) > limit else None)

    async def get(self, node_id: str, number: int) -> GenerationDetail:
        """One generation. Raises GenerationNotFound."""
        row = await self._find(node_id, number)
        state = DesiredState.model_validate(row.state)
        return GenerationDetail(**_summary(row).model_dump(), state=state)

    async def files(self, node_id: str, number: int) -> RenderedFiles:
        """The rendered files, for the BIRD that the node has. Raises GenerationNotFound."""
        state = DesiredState.model_validate((await self._find(node_id, number)).state)
        version = await self._version(node_id)
        files = rendered_files(state, number, version)
        return RenderedFiles(node_id=node_id, number=number, bird_version=str(version), files=files)

    async def compare(self, node_id: str, number: int, against: int | None) -> GenerationDiff:
        """How a generation differs from another, by default the one before. Raises GenerationNotFound."""
        after = await self._find(node_id, number)
        other = number - 1 if against is None else against
        before = await self._find(node_id, other) if other else None
        version = await self._version(node_id)
        old = DesiredState.model_validate(before.state) if before else None
        new = DesiredState.model_validate(after.state)
        return GenerationDiff(
            node_id=node_id,
            before=other,
            after=number,
            changes=differences(before.state if before else None, after.state),
            files=file_differences(
                rendered_files(old, number, version) if old else {}, rendered_files(new, number, version)
            ),
        )

    async def roll_back(self, actor: Principal, node_id: str, number: int) -> NodeFactsRead:
        """Write the facts of a generation back, so that the next edit does not undo it.

        Links to own nodes belong to both ends and stay as they are. Raises GenerationNotFound, NodeNotFound,
        RollbackRefused, ValueTaken or StateInvalid.
        """
        row = await self._find(node_id, number)
        await self.nodes.restore(node_id, NodeFactsRead.model_validate(row.facts["node"]))
        await self.peerings.restore(node_id, row.facts["peerings"])
        self.audit.note(actor, "generation.rolled_back", ("node", node_id), after={"generation": number})
        await self.publisher.publish(actor, f"rolled back to generation {number}", None)
        return await self.nodes.get(node_id)

    async def _version(self, node_id: str) -> BirdVersion:
        seen = (await self.observations.get(node_id)).snapshot
        return BirdVersion.parse(seen.bird_version) if seen and seen.bird_version else PREVIEW_VERSION

    async def _find(self, node_id: str, number: int) -> Generation:
        row = await self.rows.find(node_id, number)
        if row is None:
            raise GenerationNotFound(f"{node_id} has no generation {number}.")
        return row


async def load_published(rows: GenerationRepository, node_id: str, number: int) -> PublishedState:
    """A generation as its agent pulls it. Raises GenerationNotFound."""
    row = await rows.find(node_id, number)
    if row is None:
        raise GenerationNotFound(f"{node_id} has no generation {number}.")
    state = DesiredState.model_validate(row.state)
    return PublishedState(generation=number, sha256=row.sha256, state=state)


def _summary(row: Generation) -> GenerationSummary:
    return GenerationSummary.model_validate(
        {name: getattr(row, name) for name in GenerationSummary.model_fields}
    )
