"""A preview of a change: what every node would get, rendered, compared and kept for a while."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from control_server.desired_state.rules import previews as rules
from control_server.desired_state.rules.differences import differences, file_differences
from control_server.desired_state.rules.effects import session_effects
from control_server.desired_state.schemas import Bundle, PreviewRead
from control_server.desired_state.service.publishing import Plan
from control_server.desired_state.store import PreviewStore
from control_server.observations.schemas import ObservationRead
from control_server.observations.service import Observations
from control_server.policy.schemas import ChangePreview, NodeChangeRead
from shared.kernel.clock import Clock
from shared.kernel.ids import short_id
from shared.kernel.principal import Principal
from shared.rendering.versions import BirdVersion

_ID_LENGTH = 20


@dataclass(frozen=True, slots=True)
class PlanShow:
    """Renders plans and keeps the files where every worker finds them."""

    #: Observations in a session that is closed before the store is asked.
    reading: Callable[[], AbstractAsyncContextManager[Observations]]
    store: PreviewStore
    now: Clock

    async def show(self, actor: Principal, plans: Sequence[Plan]) -> ChangePreview:
        """What the plans would do; without plans there is nothing to keep.

        Raises RuntimeStateCapacityExceeded for a bundle that is too large just now.
        """
        seen = await self._seen([plan.node_id for plan in plans])
        changes: list[NodeChangeRead] = []
        modules: dict[str, str] = {}
        for plan in plans:
            version = _version(seen.get(plan.node_id))
            after = rules.rendered_files(plan.after, plan.number, version)
            before = rules.rendered_files(plan.before, plan.number, version) if plan.before else {}
            changes.append(_change(plan, version, (before, after), seen.get(plan.node_id)))
            modules |= {f"nodes/{plan.node_id}/{path}": text for path, text in after.items()}
        kept = await self._keep(actor, plans, modules) if plans else None
        expires_in = int(self.store.ttl.total_seconds()) if kept else None
        return ChangePreview(preview_id=kept, expires_in=expires_in, nodes=changes)

    async def _keep(self, actor: Principal, plans: Sequence[Plan], modules: Mapping[str, str]) -> str:
        configuration = "\n".join(f"# {path}\n{text}" for path, text in sorted(modules.items()))
        bundle = Bundle(configuration=configuration, modules=modules, assets={})
        files = rules.list_files(bundle)
        nodes = sorted(plan.node_id for plan in plans)
        manifest = PreviewRead(
            id=f"rt_{short_id(_ID_LENGTH)}",
            created_at=self.now(),
            created_by=actor.name,
            expires_in=int(self.store.ttl.total_seconds()),
            nodes=nodes,
            changed=nodes,
            sha256=rules.digest_of_all(files),
            files=files,
        )
        await self.store.put(manifest, bundle)
        return manifest.id

    async def _seen(self, node_ids: Collection[str]) -> Mapping[str, ObservationRead]:
        async with self.reading() as observations:
            return await observations.by_node(node_ids)


def _version(seen: ObservationRead | None) -> BirdVersion:
    if seen is None or seen.snapshot is None or seen.snapshot.bird_version is None:
        return rules.PREVIEW_VERSION
    return BirdVersion.parse(seen.snapshot.bird_version)


def _change(
    plan: Plan,
    version: BirdVersion,
    files: tuple[Mapping[str, str], Mapping[str, str]],
    seen: ObservationRead | None,
) -> NodeChangeRead:
    before = plan.before.model_dump(mode="json") if plan.before else None
    return NodeChangeRead(
        node_id=plan.node_id,
        generation=plan.number,
        changes=differences(before, plan.after.model_dump(mode="json")),
        files=file_differences(*files),
        unsupported=rules.unsupported_options(plan.after, plan.number, version),
        bird_version=(seen.snapshot.bird_version or "") if seen and seen.snapshot else "",
        sessions=session_effects(plan.before, plan.after),
        drifted=[item.subject for item in seen.drift.items] if seen and seen.drift else [],
    )
