"""Health of a node by what its link says, finding nodes in a list, and what forms mean."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from control_server.nodes.errors import NodeInUse, RollbackRefused
from control_server.nodes.schemas import (
    HealthRead,
    Listed,
    MaintenanceRead,
    NodeFactsRead,
    NodeQuery,
    NodeUpdate,
    SettingsForm,
)
from control_server.policy.schemas import FactForm
from shared.kernel.errors import AppError, FieldError, InvalidInput

_HEALTH_OF_LIVENESS = {
    "online": ("ok", []),
    "stale": ("stale", ["agent_stale"]),
    "offline": ("down", ["agent_offline"]),
    "unknown": ("unknown", ["never_reported"]),
}


def health(liveness: str, since: datetime | None) -> HealthRead:
    """What the agent's link alone says of the node; unknown is not down."""
    state, reasons = _HEALTH_OF_LIVENESS[liveness]
    return HealthRead(state=state, reasons=list(reasons), since=since)


def check_deletable(lifecycle: str, generation: int, applied: int | None) -> None:
    """Refuse to forget a node that may still route. Raises NodeInUse with what is missing."""
    if lifecycle != "decommissioned":
        raise NodeInUse("Decommission the node first: its routing is then withdrawn.")
    if generation and applied is not None and applied < generation:
        raise NodeInUse(f"The node still runs generation {applied}; wait until it runs {generation}.")


def check_restorable(present: str, then: str) -> None:
    """Refuse a way back that would revive a node or withdraw all of it unasked. Raises RollbackRefused."""
    if present == then or "decommissioned" not in (present, then):
        return
    if present == "decommissioned":
        raise RollbackRefused("The node is decommissioned. Bring it back first, then roll it back.")
    raise RollbackRefused("The node was decommissioned then. If that is meant, decommission it.")


def check_end(until: datetime | None, present: MaintenanceRead | None, now: datetime) -> None:
    """Refuse a maintenance that is over before it begins. Raises InvalidInput.

    One that takes longer than was said may have its reason changed: a form knows minutes.
    """
    said = present.until if present is not None else None
    stays = said is not None and until is not None and abs(said - until) < timedelta(minutes=1)
    if until is not None and until <= now and not stays:
        detail = "That is over already; write a time to come, or none."
        raise InvalidInput(detail, fields=[FieldError("until", "until_past", detail)])


_HIGHEST_AS = 2**32 - 1


def as_number(label: str) -> int | None:
    """The AS number that a label such as `AS4242429901` says; None where it says none."""
    digits = label.strip().upper().removeprefix("AS")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > len(str(_HIGHEST_AS)):
        return None
    return int(digits) if 0 < int(digits) <= _HIGHEST_AS else None


_WORST_FIRST = ("down", "degraded", "stale", "unknown", "maintenance", "ok")


#: Nodes on one page of the list.
PAGE = 100


def matching(nodes: Sequence[Listed], words: str) -> list[Listed]:
    """Nodes whose id, site, description or labels contain every word."""
    wanted = words.lower().split()
    return (
        [node for node in nodes if all(word in _searchable(node) for word in wanted)] if wanted else [*nodes]
    )


def ordered(nodes: Sequence[Listed], sorting: str) -> list[Listed]:
    """Nodes in the order asked for; those that are alike by id."""
    found = sorted(nodes, key=lambda node: node.node_id)
    key = sorting.removeprefix("-")
    if key == "state":
        found.sort(key=lambda node: _WORST_FIRST.index(node.state))
    elif key == "seen":
        found.sort(key=lambda node: node.seen.timestamp() if node.seen else 0.0, reverse=True)
    return found[::-1] if sorting.startswith("-") else found


def last_page(found: int) -> int:
    """The number of the last page of the list; also an empty list has one."""
    return max(1, -(-found // PAGE))


def address(wanted: NodeQuery, **changed: Any) -> str:
    """Where the list stands as it was asked for, with these changes; what is usual is left out."""
    asked, usual = replace(wanted, **changed), NodeQuery()
    values = {"q": asked.words, "state": asked.state, "sort": asked.sort, "page": asked.page}
    plain = {"q": usual.words, "state": usual.state, "sort": usual.sort, "page": usual.page}
    query = urlencode({name: value for name, value in values.items() if value != plain[name]})
    return f"/nodes?{query}" if query else "/nodes"


def _searchable(node: Listed) -> str:
    labels = " ".join(f"{name}={value}" for name, value in node.labels.items())
    return f"{node.node_id} {node.site} {node.description} {labels}".lower()


_OUTSIDE_ROUTING = ("site", "description", "labels", "allow_targets", "deny_targets")
_LISTS = frozenset({"prefixes4", "prefixes6", "allow_targets", "deny_targets"})
#: What the schema gives where a person leaves it empty; elsewhere empty is none.
_EMPTY: Mapping[str, Any] = {
    "hostname": "",
    "endpoint": "",
    "region": 0,
    "country": 0,
    "link_local": "fe80::1",
}
_NOT_FACTS = frozenset(FactForm.model_fields)
_SHOWN = tuple(
    name for name in SettingsForm.model_fields if name not in _NOT_FACTS and name not in _OUTSIDE_ROUTING
)


def settings_form_of(facts: NodeFactsRead) -> SettingsForm:
    """The form of a node as it stands."""
    routing = facts.routing.model_dump(mode="json")
    texts = {
        name: "\n".join(value) if name in _LISTS else "" if value is None else str(value)
        for name in _SHOWN
        for value in [routing[name]]
    }
    named = {
        "version": facts.version,
        "site": facts.site,
        "description": facts.description,
        "labels": "\n".join(f"{name}={value}" for name, value in sorted(facts.labels.items())),
        "allow_targets": "\n".join(facts.allow_targets),
        "deny_targets": "\n".join(facts.deny_targets),
    }
    return SettingsForm.model_validate(named | texts)


def update_of(present: NodeFactsRead, typed: SettingsForm) -> NodeUpdate:
    """What the form changes, and nothing else: what it does not show stays as it is.

    Raises InvalidInput that names each field.
    """
    shown = settings_form_of(present)
    changed = {
        name: text.strip()
        for name, text in typed.model_dump(exclude=set(_NOT_FACTS)).items()
        if _lines(text) != _lines(getattr(shown, name))
    }
    document: dict[str, Any] = {
        name: _meant(name, changed[name]) if name in _LISTS else changed[name]
        for name in _OUTSIDE_ROUTING
        if name in changed
    }
    if "labels" in document:
        document["labels"] = _labels(document["labels"])
    routing = {name: _meant(name, changed[name]) for name in _SHOWN if name in changed}
    return _checked(document | ({"routing": routing} if routing else {}))


def _labels(text: str) -> dict[str, str]:
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals:
            detail = f"{line}: write a name, an equals sign and a value."
            raise InvalidInput(fields=[FieldError("labels", "label_refused", detail)])
        found[name.strip()] = value.strip()
    return found


def _lines(text: str) -> list[str]:
    return text.split()


def _meant(name: str, text: str) -> Any:
    if name in _LISTS:
        return text.replace(",", " ").split()
    if name == "asn":
        return as_number(text) or text or None
    return text or _EMPTY.get(name)


def _checked(document: Mapping[str, Any]) -> NodeUpdate:
    try:
        return NodeUpdate.model_validate(document)
    except ValidationError as error:
        fields = [
            FieldError(
                _field_of(item["loc"]),
                str(item["type"]),
                str(item["msg"]).removeprefix("Value error, "),
                str(item["input"]) if _is_one_of(item, _LISTS) else "",
            )
            for item in error.errors(include_url=False)
        ]
        raise InvalidInput(fields=fields) from None


def _is_one_of(item: ErrorDetails, lists: Container[str]) -> bool:
    """Whether the error is about one of several values, each of which stands on a line."""
    return _field_of(item["loc"]) in lists and isinstance(item["input"], str | int)


def _field_of(location: Sequence[int | str]) -> str:
    names = [str(part) for part in location if part != "routing"]
    return names[0] if names else "form"


def by_field(refusal: AppError, form: type[BaseModel] = SettingsForm) -> dict[str, FieldError]:
    """What was refused, by the names of the form; what belongs to no field of it stands under `form`."""
    # The first of several stands there.
    found = {error.field.removeprefix("routing."): error for error in reversed(refusal.fields)}
    shown = {name: error for name, error in found.items() if name in form.model_fields}
    if not shown:
        shown["form"] = FieldError("form", refusal.code, refusal.detail)
    return shown
