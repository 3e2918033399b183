"""JSON routes of previews."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response, status

from control_server.desired_state.dependencies import Previews, PreviewWriter
from control_server.desired_state.schemas import PREVIEW_ID_PATTERN, FilePath, PreviewCreate, PreviewRead
from shared.web.problems import Problem

_FULL: dict[int | str, dict[str, Any]] = {
    503: {"model": Problem, "description": "The temporary state is away, or has no room for this bundle now"}
}
#: What a person rendered is shown as text or saved, never run by a browser.
_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store"}

router = APIRouter(prefix="/api/v1/previews", tags=["previews"])

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
