"""What the registry's own rules say of a change, before anybody makes it. Public, as the registry is."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from registry_server.conditional.dependencies import IfChanged
from registry_server.lookup.dependencies import Key, ObjectClass
from registry_server.policy.dependencies import Policy
from registry_server.policy.schemas import PolicyAnswer, PolicyQuestion
from shared.web.problems import Problem

_RESPONSES: dict[int | str, dict[str, Any]] = {
    422: {"model": Problem, "description": "Not a question that can be judged"},
    503: {"model": Problem, "description": "The registry was not read yet"},
}
_ABOUT: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it already"},
    404: {"model": Problem, "description": "No such class"},
}
Mntner = Annotated[str | None, Query(min_length=1, max_length=255, examples=["FOO-MNT"])]

router = APIRouter(prefix="/registry/api/v1/policy", tags=["policy"], responses=_RESPONSES)


@router.get("/{object_class}/{key:path}", response_model=PolicyAnswer, responses=_ABOUT)
async def ask_about_key(
    object_class: ObjectClass, key: Key, policy: Policy, if_changed: IfChanged, mntner: Mntner = None
) -> Response:
    """Whether a maintainer may change an object, or add it, and who has what a new one would take."""
    return if_changed.answer(policy.about(object_class, key, mntner))


@router.post("")
async def ask_about_changes(question: PolicyQuestion, policy: Policy) -> PolicyAnswer:
    """What the rules and the schemas have against a set of changes. Nothing is changed by asking."""
    return policy.ask(question)
