"""Whether a new state is too empty to be believed."""

from __future__ import annotations

from registry_server.objects.schemas import IndexCounts


def doubt(before: IndexCounts, after: IndexCounts, share: float, floor: int) -> str | None:
    """Why the new state should be held, or None where it may be served."""
    if after.total_objects == 0:
        return "the new state holds no objects at all"
    for what, had, has in (
        ("objects", before.total_objects, after.total_objects),
        ("routes", before.total_routes, after.total_routes),
    ):
        dropped = had - has
        if dropped > floor and dropped > share * had:
            return f"the new state drops {dropped} of {had} {what}"
    return None
