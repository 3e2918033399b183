"""Portal routes of generations."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.desired_state.dependencies import GenerationDesk, Number, PreviewWriter, Shelf
from control_server.nodes.schemas import NodeId
from control_server.policy.dependencies import Reader
from control_server.policy.pages import PublishForm, publish_page
from control_server.policy.rules.changes import by_thing, file_changes
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(prefix="/nodes", include_in_schema=False)

_SHOWN = 50


@router.get("/{node_id}/generations")
async def show_generations(
    request: Request,
    _reader: Reader,
    node_id: NodeId,
    shelf: Shelf,
    before: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """What was published for the node, newest first, with who and why."""
    node = await shelf.nodes.shown(node_id)
    generations = await shelf.generations.list(node_id, before, _SHOWN)
    return render(request, "desired_state/generations.html", node=node, generations=generations)


@router.get("/{node_id}/generations/{number}")
async def show_generation(
    request: Request, _reader: Reader, node_id: NodeId, number: Number, shelf: Shelf
) -> Response:
    """One generation: what it changed, in meaning and in files, and all of its files."""
    shown = await _generation(shelf, node_id, number)
    return render(request, "desired_state/generation.html", **shown)


@router.post("/{node_id}/generations/{number}/rollback")
async def roll_back_from_page(
    request: Request, writer: PreviewWriter, node_id: NodeId, number: Number, shelf: Shelf
) -> Response:
    """Show what the way back would change, or go it."""
    await shelf.generations.roll_back(writer, node_id, number)
    preview = await shelf.generations.publisher.preview()
    at = f"/nodes/{node_id}/generations"
    if preview is not None:
        crumbs = [(node_id, f"/nodes/{node_id}"), (str(number), f"{at}/{number}")]
        form = PublishForm(f"{at}/{number}/rollback", {}, f"{at}/{number}", crumbs, editable=False)
        return publish_page(request, preview, form)
    return RedirectResponse(at, status_code=303)


@router.get("/{node_id}/files")
async def show_files(request: Request, _reader: Reader, node_id: NodeId, shelf: Shelf) -> Response:
    """The rendered files of the newest generation."""
    node = await shelf.nodes.shown(node_id)
    newest = node.generation.desired
    rendered = await shelf.generations.files(node_id, newest) if newest else None
    return render(request, "desired_state/files.html", node=node, rendered=rendered)


async def _generation(shelf: GenerationDesk, node_id: str, number: int) -> dict[str, Any]:
    node = await shelf.nodes.shown(node_id)
    generation = await shelf.generations.get(node_id, number)
    return {
        "node": node,
        "generation": generation,
        "things": by_thing(generation.changes),
        "files": file_changes((await shelf.generations.compare(node_id, number, None)).files),
        "rendered": await shelf.generations.files(node_id, number),
    }
