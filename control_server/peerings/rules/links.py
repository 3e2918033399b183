"""Forms of links between own nodes."""

from __future__ import annotations

from typing import Any

from control_server.peerings.rules.documents import checked
from control_server.peerings.schemas import LinkCreate, LinkForm, LinkRead, LinkUpdate
from shared.kernel.errors import AppError, FieldError

_TEXTS = ("kind", "interface_a", "interface_b", "port_a", "port_b", "mtu", "keepalive", "cost")
#: Where empty is "none" and not "what is usual".
_MAY_BE_NONE = frozenset({"keepalive"})


def link_form_of(link: LinkRead) -> LinkForm:
    """The form of a link as it stands."""
    texts = {name: _text(getattr(link, name)) for name in _TEXTS}
    return LinkForm(
        version=link.version,
        node_a=link.node_a,
        node_b=link.node_b,
        enabled="yes" if link.enabled else "",
        userspace="yes" if link.userspace else "",
        **texts,
    )


def new_link_of(typed: LinkForm) -> LinkCreate:
    """The link that was typed. Raises InvalidInput that names each field."""
    document: dict[str, Any] = {name: getattr(typed, name).strip() for name in _TEXTS}
    document = {name: value for name, value in document.items() if value or name in _MAY_BE_NONE}
    document["keepalive"] = document["keepalive"] or None
    ends = {"node_a": typed.node_a.strip(), "node_b": typed.node_b.strip()}
    switches = {"userspace": typed.userspace == "yes", "enabled": True}
    return checked(LinkCreate, {**document, **ends, **switches})


def link_update_of(present: LinkRead, typed: LinkForm) -> LinkUpdate:
    """What the form changes, and nothing else."""
    shown = link_form_of(present)
    changed: dict[str, Any] = {
        name: getattr(typed, name).strip() or None
        for name in _TEXTS
        if getattr(typed, name).strip() != getattr(shown, name)
    }
    if "keepalive" in changed:
        changed["keepalive"] = changed["keepalive"] or "off"
    if typed.userspace != shown.userspace:
        changed["userspace"] = typed.userspace == "yes"
    document: dict[str, Any] = {"link": changed} if changed else {}
    if typed.enabled != shown.enabled:
        document["enabled"] = typed.enabled == "yes"
    return checked(LinkUpdate, document)


def link_errors(refusal: AppError) -> dict[str, FieldError]:
    """What was refused, by the names of the form."""
    shown = LinkForm.model_fields.keys()
    found = {error.field if error.field in shown else "form": error for error in refusal.fields}
    return found or {"form": FieldError("form", refusal.code, refusal.detail)}


def _text(value: object) -> str:
    return "" if value is None else str(value)
