"""Portal routes of the fleet's policy, and the page before something is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel

from control_server.policy.dependencies import REASON_FIELD, PolicyOf, Reader, Writer
from control_server.policy.rules.changes import by_thing, file_changes
from control_server.policy.rules.conflicts import reconciled, remembered
from control_server.policy.rules.forms import policy_errors, policy_form_of, policy_of
from control_server.policy.schemas import ChangePreview, PolicyForm
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class PublishForm:
    """What the button of the publish page sends, and where it came from."""

    action: str
    #: What was typed, by name.
    fields: Mapping[str, str] = field(default_factory=dict)
    #: Where the page that is left leads.
    back: str = "/"
    #: Links above the title: label and address.
    crumbs: Sequence[tuple[str, str]] = ()
    #: Whether the form can be drawn again with what was typed.
    editable: bool = True

    @classmethod
    def of(cls, typed: BaseModel, action: str, back: str, crumbs: Sequence[tuple[str, str]]) -> PublishForm:
        """The button for a form that was typed."""
        fields = {name: str(value) for name, value in typed.model_dump().items() if value not in {"", None}}
        return cls(action, fields, back, crumbs)


def publish_page(request: Request, preview: ChangePreview, form: PublishForm, **more: Any) -> Response:
    """What would be published, and the one button that does it."""
    template = more.pop("template", "policy/publish.html")
    return render(request, template, **shown_changes(preview), form=form, reason_field=REASON_FIELD, **more)


def shown_changes(preview: ChangePreview) -> dict[str, Any]:
    """A preview as its template takes it."""
    return {
        "preview": preview,
        "things": {node.node_id: by_thing(node.changes) for node in preview.nodes},
        "files": {node.node_id: file_changes(node.files) for node in preview.nodes},
    }


@router.get("/policy")
async def show_policy(request: Request, _reader: Reader, policy: PolicyOf) -> Response:
    """The form of the policy."""
    form = remembered(policy_form_of(await policy.get()))
    return render(request, "policy/policy.html", typed=form, errors={}, conflicts=())


@router.post("/policy")
async def change_policy(
    request: Request,
    writer: Writer,
    policy: PolicyOf,
    typed: Annotated[PolicyForm, Form()],
) -> Response:
    """Change what the form changes, or show what that would do."""
    present = await policy.get()
    if typed.edit:
        return render(request, "policy/policy.html", typed=typed, errors={}, conflicts=())

    def draw(refusal: AppError) -> Response:
        told: dict[str, Any] = {"errors": policy_errors(refusal), "typed": typed, "conflicts": ()}
        if refusal.code == "fact_changed":
            told["typed"], told["conflicts"] = reconciled(typed, policy_form_of(present))
        return render(request, "policy/policy.html", status_code=STATUS_OF_KIND[refusal.kind], **told)

    with drawn_again(draw):
        await policy.put(writer, policy_of(present, typed), typed.version)
        preview = await policy.publisher.preview()
    if preview is not None:
        return publish_page(request, preview, PublishForm.of(typed, "/policy", "/policy", ()))
    return RedirectResponse("/policy", status_code=303)
