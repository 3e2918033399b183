"""What is new in our copy of upstream: which files a sync reads, and what it adds to the history."""

from __future__ import annotations

from registry_server.mirror.errors import RepositoryBroken
from registry_server.mirror.rules.output import instant
from registry_server.mirror.schemas import Line, SyncMode, TreeDifference
from registry_server.mirror.store.repository import BareRepository


async def find_files(
    upstream: BareRepository, base: str | None, head: str
) -> tuple[SyncMode, TreeDifference]:
    """What differs from `base`, or every file where there is none or we do not have it.

    Two trees are compared in a part of the time that the commits between them take to be told. Raises
    RepositoryBroken.
    """
    if base is not None:
        try:
            return SyncMode.INCREMENTAL, await upstream.difference(base, head)
        except RepositoryBroken:
            if await upstream.is_ancestor(base, head):
                raise
    return SyncMode.FULL, TreeDifference([], await upstream.tree(head))


async def find_line(upstream: BareRepository, known: str | None, head: str) -> Line:
    """What follows the newest commit that is known; the whole line where that one is not on it.

    Raises RepositoryBroken.
    """
    if known == head:
        return Line(known, [], await upstream.committed_at(head))
    following = await upstream.log(known, head) if known else None
    commits = following or await upstream.log(None, head) or []
    return Line(known if following else None, commits, instant(commits[-1].committed if commits else 0))
