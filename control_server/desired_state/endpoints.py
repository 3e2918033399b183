"""JSON routes of previews and generations, and what agents pull."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request, Response, status

from control_server.agents.dependencies import AgentNode
from control_server.desired_state.dependencies import (
    GenerationsOf,
    Number,
    Previews,
    PreviewWriter,
    PullingOf,
)
from control_server.desired_state.schemas import (
    PREVIEW_ID_PATTERN,
    FilePath,
    GenerationDetail,
    GenerationDiff,
    GenerationPage,
    PreviewCreate,
    PreviewRead,
    RenderedFiles,
)
from control_server.nodes.schemas import NodeFactsRead, NodeId
from control_server.policy.dependencies import Reader
from control_server.policy.schemas import ChangePreview
from shared.protocol.desired_state.document import PublishedState
from shared.web.problems import Problem
from shared.web.routing import Router

_FULL: dict[int | str, dict[str, Any]] = {
    503: {"model": Problem, "description": "The temporary state is away, or has no room for this bundle now"}
}
#: What a person rendered is shown as text or saved, never run by a browser.
_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store"}

router = Router(prefix="/api/v1/previews", tags=["previews"])

PreviewId = Annotated[str, Path(pattern=PREVIEW_ID_PATTERN)]


@router.post("", status_code=status.HTTP_201_CREATED, responses=_FULL)
async def create_preview(writer: PreviewWriter, wanted: PreviewCreate, previews: Previews) -> PreviewRead:
    """Render a change that is not published; the bundle lives for an hour or until it is closed."""
    return await previews.create(writer, wanted)


@router.get("/{preview_id}")
async def get_preview(_writer: PreviewWriter, preview_id: PreviewId, previews: Previews) -> PreviewRead:
    """What the bundle holds."""
    return await previews.get(preview_id)


@router.get("/{preview_id}/configuration", response_class=Response)
async def get_preview_configuration(
    _writer: PreviewWriter, preview_id: PreviewId, previews: Previews
) -> Response:
    """The rendered configuration as one text."""
    content = await previews.get_configuration(preview_id)
    return Response(content, media_type="text/plain; charset=utf-8", headers=_HEADERS)


@router.get("/{preview_id}/files/{path:path}", response_class=Response)
async def get_preview_file(
    _writer: PreviewWriter, preview_id: PreviewId, path: FilePath, previews: Previews
) -> Response:
    """One text of the bundle."""
    content = await previews.get_module(preview_id, path)
    return Response(content, media_type="text/plain; charset=utf-8", headers=_HEADERS)


@router.get("/{preview_id}/assets/{path:path}", response_class=Response)
async def get_preview_asset(
    _writer: PreviewWriter, preview_id: PreviewId, path: FilePath, previews: Previews
) -> Response:
    """One binary file of the bundle."""
    content = await previews.get_asset(preview_id, path)
    saved = {**_HEADERS, "Content-Disposition": "attachment"}
    return Response(content, media_type="application/octet-stream", headers=saved)


@router.delete("/{preview_id}", status_code=status.HTTP_204_NO_CONTENT)
async def close_preview(_writer: PreviewWriter, preview_id: PreviewId, previews: Previews) -> None:
    """Close the preview; its id answers 404 from then on, everywhere."""
    await previews.close(preview_id)


generations = Router(prefix="/api/v1/nodes", tags=["generations"])
agents = Router(prefix="/api/v1/agent", tags=["agent"])


@generations.get("/{node_id}/generations")
async def list_generations(
    _reader: Reader,
    node_id: NodeId,
    found: GenerationsOf,
    before: Annotated[int | None, Query(ge=1, description="Only those with a lower number")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> GenerationPage:
    """What was published for the node, newest first, with who and why."""
    return await found.list(node_id, before, limit)


@generations.get("/{node_id}/generations/{number}")
async def get_generation(
    _reader: Reader, node_id: NodeId, number: Number, found: GenerationsOf
) -> GenerationDetail:
    """One generation with its state."""
    return await found.get(node_id, number)


@generations.get("/{node_id}/generations/{number}/files")
async def get_generation_files(
    _reader: Reader, node_id: NodeId, number: Number, found: GenerationsOf
) -> RenderedFiles:
    """The files that the node's BIRD gets; secrets are marks."""
    return await found.files(node_id, number)


@generations.get("/{node_id}/generations/{number}/diff")
async def compare_generations(
    _reader: Reader,
    node_id: NodeId,
    number: Number,
    found: GenerationsOf,
    against: Annotated[int | None, Query(ge=1, description="By default the one before")] = None,
) -> GenerationDiff:
    """How a generation differs from another, in meaning and in files."""
    return await found.compare(node_id, number, against)


@generations.post("/{node_id}/generations/{number}/rollback")
async def roll_back(
    writer: PreviewWriter, node_id: NodeId, number: Number, found: GenerationsOf
) -> NodeFactsRead | ChangePreview:
    """Write the facts of a generation back and publish what follows from them as a new one."""
    written = await found.roll_back(writer, node_id, number)
    return await found.publisher.preview() or written


@agents.get(
    "/desired-state", response_model=PublishedState, responses={304: {"description": "Nothing is newer"}}
)
async def pull_desired_state(request: Request, node_id: AgentNode, pulling: PullingOf) -> Response:
    """What the agent's node should run now."""
    published = await pulling.newest(node_id)
    tag = f'"{published.generation}-{published.sha256}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers={"ETag": tag})
    # Written as it is: a model that is returned is validated once more, and it is large.
    return Response(published.model_dump_json(), media_type="application/json", headers={"ETag": tag})
