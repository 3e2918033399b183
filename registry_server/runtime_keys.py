"""Every key of this service in the runtime state: what may vanish at any time without changing an answer."""

from __future__ import annotations

from datetime import timedelta

from shared.runtime_state import RuntimeStateFamilies, RuntimeStateFamily

RUNTIME_BUILD = RuntimeStateFamily(
    name="runtime:build",
    pattern="runtime:build:<job>",
    owner="mirror.store.progress.SyncBoard",
    purpose="how far a running job has come, when that was, and how it ended",
    ttl=timedelta(seconds=604_800),
    cap="one small document",
    loss="progress is not shown until the next step; what happened is in SQL",
)

#: All of them.
RUNTIME_STATE = RuntimeStateFamilies(RUNTIME_BUILD)
