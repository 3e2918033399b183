"""Portal routes of enrolment."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.agents.dependencies import Link
from control_server.enrolment.dependencies import EnrolmentAdmin, Enrolments
from control_server.enrolment.schemas import EnrolmentTokenCreate
from control_server.nodes.dependencies import Nodes
from control_server.nodes.schemas import NodeId
from shared.web.forms import drawn_again, field_messages, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@router.get("/enrolment")
async def show_enrolment(
    request: Request,
    _admin: EnrolmentAdmin,
    enrolments: Enrolments,
    node: Annotated[str, Query(max_length=63)] = "",
) -> Response:
    """Agents that wait, and the tokens."""
    return render(
        request,
        "enrolment/enrolment.html",
        waiting=await enrolments.list_registrations("pending"),
        tokens=await enrolments.list_tokens(),
        typed={"node_id": node, "expires_in": "3600"},
        errors={},
        created=None,
    )


@router.post("/enrolment/tokens")
async def create_token_from_page(
    request: Request,
    admin: EnrolmentAdmin,
    enrolments: Enrolments,
    node_id: Annotated[str, Form()] = "",
    expires_in: Annotated[str, Form()] = "3600",
) -> Response:
    """Make a token and show its secret on this one page."""
    shown = {
        "waiting": await enrolments.list_registrations("pending"),
        "tokens": await enrolments.list_tokens(),
        "typed": {"node_id": node_id, "expires_in": expires_in},
    }
    with drawn_again(
        lambda refusal: render(
            request,
            "enrolment/enrolment.html",
            status_code=STATUS_OF_KIND[refusal.kind],
            errors=field_messages(refusal),
            created=None,
            **shown,
        )
    ):
        values = {"node_id": node_id.strip() or None, "expires_in": expires_in}
        created = await enrolments.create_token(admin, parse(EnrolmentTokenCreate, values))
    return render(request, "enrolment/enrolment.html", status_code=201, errors={}, created=created, **shown)


@router.post("/enrolment/tokens/{token_id}/revoke")
async def revoke_token_from_page(
    admin: EnrolmentAdmin,
    token_id: Annotated[str, Path(pattern=r"^[0-9a-z]{12}$")],
    enrolments: Enrolments,
) -> Response:
    """Make an unused token useless."""
    await enrolments.revoke_token(admin, token_id)
    return RedirectResponse("/enrolment", status_code=303)


@router.post("/enrolment/registrations/{registration_id}/{decision}")
async def decide_from_page(
    admin: EnrolmentAdmin,
    registration_id: UUID,
    decision: Annotated[str, Path(pattern="^(approve|reject)$")],
    enrolments: Enrolments,
    node_id: Annotated[NodeId | None, Form()] = None,
) -> Response:
    """Let an agent in, or turn it away."""
    if decision == "approve":
        await enrolments.approve(admin, registration_id, node_id)
    else:
        await enrolments.reject(admin, registration_id)
    return RedirectResponse("/enrolment", status_code=303)


@router.post("/nodes/{node_id}/reset-agent")
async def reset_agent_from_page(admin: EnrolmentAdmin, node_id: NodeId, nodes: Nodes, link: Link) -> Response:
    """Forget the agent's identity so that another machine may enrol."""
    await nodes.reset_agent(admin, node_id)
    await link.drop(node_id, "The agent of this node was reset by an administrator.")
    return RedirectResponse(f"/nodes/{node_id}", status_code=303)
