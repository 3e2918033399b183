"""Whether a new state is too empty to be believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from registry_server.mirror.schemas import Loss, MirrorSettings, SyncMode, SyncPlan, Weight
from registry_server.objects.rules.classes import CLASS_OF_DIRECTORY
from registry_server.objects.rules.paths import FILTERS
from registry_server.objects.schemas import IndexCounts


def doubt(
    before: IndexCounts, after: IndexCounts, settings: MirrorSettings, more: Iterable[Loss] = ()
) -> str | None:
    """Why the new state should be held, or None where it may be served.

    `more` is what else was weighed on both sides.
    """
    if after.total_objects == 0:
        return "the new state holds no objects at all"
    losses = (
        Loss("objects", before.total_objects, before.total_objects - after.total_objects),
        Loss("routes", before.total_routes, before.total_routes - after.total_routes),
        *more,
    )
    great = [
        f"{lost} of {had} {what}"
        for what, had, lost in losses
        if lost > settings.drop_floor and lost > settings.drop_share * had
    ]
    return f"the new state drops {', '.join(great)}" if great else None


def is_to_be_weighed(plan: SyncPlan, before: IndexCounts, settings: MirrorSettings) -> bool:
    """Whether so much may be lost that the effect of the sync has to be found out, which takes its time.

    While the filters stay as they are, a ROA is lost with its route object alone, and an object is sound no
    more only where its file was touched. Half the share, for not every object is sound or has a ROA.
    """
    if not before.total_objects:
        return False
    if plan.mode is SyncMode.FULL:
        return True
    touched = plan.touched
    if not FILTERS.isdisjoint(touched):
        return True
    inside = (path.split(b"/") for path in touched if path.startswith(b"data/"))
    directories = Counter(parts[1].decode(errors="replace") for parts in inside)
    return any(
        files > settings.drop_floor
        and files > settings.drop_share / 2 * before.objects.get(CLASS_OF_DIRECTORY.get(name, ""), 0)
        for name, files in directories.items()
    )


def losses(before: Weight, after: Weight) -> Iterable[Loss]:
    """What of each kind is there no more."""
    for object_class, had in before.sound.items():
        yield Loss(f"sound {object_class} objects", had, had - after.sound.get(object_class, 0))
    for what, announced in before.roas.items():
        yield Loss(what, len(announced), len(announced - after.roas.get(what, frozenset())))
