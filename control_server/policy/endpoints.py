"""JSON routes of the fleet's policy."""

from __future__ import annotations

from fastapi import Response

from control_server.policy.dependencies import (
    VERSIONED,
    PolicyOf,
    PublisherOf,
    Reader,
    ReadVersion,
    Writer,
    tag,
)
from control_server.policy.schemas import ChangePreview, PolicyRead, PolicyWrite
from shared.web.routing import Router

router = Router(prefix="/api/v1/policy", tags=["policy"])


@router.get("")
async def get_policy(_reader: Reader, policy: PolicyOf, response: Response) -> PolicyRead:
    """What is routed with others, and how the nodes speak among themselves."""
    found = await policy.get()
    tag(response, found.version)
    return found


@router.put("", responses=VERSIONED)
async def put_policy(
    writer: Writer,
    wanted: PolicyWrite,
    versions: ReadVersion,
    policy: PolicyOf,
    publisher: PublisherOf,
) -> PolicyRead | ChangePreview:
    """Replace the fleet's policy; every node that it changes gets a generation."""
    written = await policy.put(writer, wanted, versions.read)
    if (preview := await publisher.preview()) is not None:
        return preview
    versions.tag(written.version)
    return written
