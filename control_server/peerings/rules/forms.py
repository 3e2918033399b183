"""Forms of peerings: what they mean, and where what was refused stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from control_server.nodes.rules import as_number
from control_server.peerings.rules.documents import checked
from control_server.peerings.schemas import (
    PeeringCreate,
    PeeringEditForm,
    PeeringForm,
    PeeringRead,
    PeeringUpdate,
)
from shared.kernel.errors import AppError, FieldError

_FIELDS = {
    "link.peer_public_key": "public_key",
    "link.endpoint": "endpoint",
    "link.listen_port": "listen_port",
    "link.mtu": "mtu",
    "link.keepalive": "keepalive",
    "session": "neighbor6",
    "session.neighbor6": "neighbor6",
    "session.policy.local_pref": "local_pref",
    "session.policy.prepend": "prepend",
    "session.policy.import_limit": "import_limit",
    "session.policy.import_limit.prefixes": "import_limit",
}


def by_field(refusal: AppError) -> dict[str, FieldError]:
    """What was refused, by the names of the form; what belongs to no field of it stands under `form`."""
    shown = PeeringForm.model_fields.keys()
    found: dict[str, FieldError] = {}
    for error in refusal.fields:
        name = _FIELDS.get(error.field, error.field)
        found[name if name in shown else "form"] = error
    if not found:
        found["form"] = FieldError("form", refusal.code, refusal.detail)
    return found


def create_of(node_id: str, typed: PeeringForm) -> PeeringCreate:
    """The peering that was typed. Raises InvalidInput that names each field."""
    asn = as_number(typed.asn)
    document = {
        "node_id": node_id,
        "name": typed.name.strip() or f"as{asn}",
        "asn": typed.asn.strip() if asn is None else asn,
        "description": typed.description.strip(),
        "preshared_key": typed.preshared_key.strip() or None,
        "link": {
            "kind": "wireguard",
            "peer_public_key": typed.public_key.strip(),
            "endpoint": typed.endpoint.strip() or None,
            "listen_port": typed.listen_port.strip() or None,
            "keepalive": typed.keepalive.strip() or None,
            **_given("mtu", typed.mtu),
        },
        "session": {"neighbor6": typed.neighbor6.strip() or None, "policy": _policy(typed)},
    }
    return checked(PeeringCreate, document)


def _policy(typed: PeeringForm) -> dict[str, Any]:
    limit = typed.import_limit.strip()
    return {
        **_given("local_pref", typed.local_pref),
        **_given("prepend", typed.prepend),
        "import_limit": {"prefixes": limit} if limit else None,
    }


def _given(name: str, text: str) -> dict[str, str]:
    return {name: text.strip()} if text.strip() else {}


def edit_form_of(peering: PeeringRead) -> PeeringEditForm:
    """The form of a peering as it stands."""
    policy = peering.session.policy
    return PeeringEditForm(
        version=peering.version,
        description=peering.description,
        enabled="yes" if peering.enabled else "",
        local_pref=str(policy.local_pref),
        prepend=str(policy.prepend),
        import_limit=str(policy.import_limit.prefixes) if policy.import_limit else "",
    )


def update_of(present: PeeringRead, typed: PeeringEditForm) -> PeeringUpdate:
    """What the form changes, and nothing else: what it does not show stays as it is."""
    shown = edit_form_of(present)
    changed = {
        name: value
        for name, value in typed.model_dump(exclude={"version"}).items()
        if value.strip() != getattr(shown, name)
    }
    document: dict[str, Any] = {}
    if "description" in changed:
        document["description"] = typed.description.strip()
    if "enabled" in changed:
        document["enabled"] = typed.enabled == "yes"
    policy = _changed_policy(changed)
    if policy:
        document["session"] = {"policy": policy}
    return checked(PeeringUpdate, document)


def _changed_policy(changed: Mapping[str, str]) -> dict[str, Any]:
    policy: dict[str, Any] = {name: changed[name] for name in ("local_pref", "prepend") if name in changed}
    if "import_limit" in changed:
        limit = changed["import_limit"].strip()
        policy["import_limit"] = {"prefixes": limit} if limit else None
    return policy
