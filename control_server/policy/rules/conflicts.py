"""Two people change one thing: what each of them wrote, field by field, and a form that begins with both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from control_server.policy.schemas import FactForm

Form = TypeVar("Form", bound=FactForm)

_NOT_FACTS = frozenset(FactForm.model_fields)


@dataclass(frozen=True, slots=True)
class Conflict:
    """One field that is not the same to both."""

    field: str
    yours: str
    theirs: str
    before: str | None


def remembered(form: Form) -> Form:
    """The form with itself as it was first shown, so that a later look knows what somebody changed."""
    return form.model_copy(update={"was": json.dumps(_facts(form), sort_keys=True)})


def reconciled(typed: Form, current: Form) -> tuple[Form, Sequence[Conflict]]:
    """The form to be sent again, and the fields that differ.

    What only they have changed is theirs; everything else stays as it was typed. Sent again, the form is
    about the version that is there now.
    """
    before, yours, theirs = _before(typed), _facts(typed), _facts(current)
    chosen = {
        name: theirs[name] if name in before and _same(value, before[name]) else value
        for name, value in yours.items()
    }
    conflicts = [
        Conflict(name, value, theirs[name], before.get(name))
        for name, value in yours.items()
        if not _same(value, theirs[name])
    ]
    return remembered(current).model_copy(update=chosen), conflicts


def _facts(form: FactForm) -> dict[str, str]:
    return {name: str(value) for name, value in form.model_dump(exclude=set(_NOT_FACTS)).items()}


def _before(typed: FactForm) -> dict[str, str]:
    try:
        found = json.loads(typed.was or "{}")
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _same(one: str, other: str) -> bool:
    """Blanks at the ends and the line endings of a browser make no difference."""
    return one.split() == other.split()
