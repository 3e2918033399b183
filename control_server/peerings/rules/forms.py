"""Forms of peerings: what they mean, and where what was refused stands in them."""

from __future__ import annotations

import re
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
    TunnelFacts,
)
from control_server.policy.schemas import FactForm
from shared.kernel.errors import AppError, FieldError
from shared.protocol.desired_state.peerings import CRYPTO_WIREGUARD, CRYPTO_WIREGUARD_PRESHARED

#: What stands in the field where there is no limit.
NO_LIMIT = "off"
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
    "session.policy.quality.latency": "latency",
    "session.policy.quality.bandwidth": "bandwidth",
    "registry_filter.as_set": "as_set",
}
#: Lines of a `[Peer]` block as wg-quick(8) reads them.
_PASTED = {
    "public_key": re.compile(r"^\s*PublicKey\s*=\s*(\S+)", re.IGNORECASE | re.MULTILINE),
    "endpoint": re.compile(r"^\s*Endpoint\s*=\s*(\S+)", re.IGNORECASE | re.MULTILINE),
}
_OF_THE_TUNNEL = frozenset({"endpoint", "public_key", "mtu", "keepalive"})


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


def unfolded(typed: PeeringForm) -> PeeringForm:
    """The form with what a pasted `[Peer]` block says in the fields that were left empty."""
    found = {
        name: match[1]
        for name, line in _PASTED.items()
        if not getattr(typed, name).strip() and (match := line.search(typed.pasted))
    }
    return typed.model_copy(update={**found, "pasted": ""})


def filter_source(typed: PeeringForm | PeeringEditForm, asn: int | None) -> str | None:
    """Whose route objects a filter of this form is made of."""
    if typed.registry_filter == "set" and typed.as_set.strip():
        return typed.as_set.strip().upper()
    return f"AS{asn}" if typed.registry_filter and asn is not None else None


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
            "preshared_key": typed.sealed_key.strip() or None,
            **_given("mtu", typed.mtu),
        },
        "session": {
            "neighbor6": typed.neighbor6.strip() or None,
            "policy": _policy(typed),
            "options": {"bfd": typed.bfd == "yes"},
        },
        "registry_filter": _filter(typed),
    }
    return checked(PeeringCreate, document)


def _policy(typed: PeeringForm) -> dict[str, Any]:
    limit = typed.import_limit.strip()
    shared = bool(typed.preshared_key.strip() or typed.sealed_key.strip())
    return {
        **_given("local_pref", typed.local_pref),
        **_given("prepend", typed.prepend),
        "import_limit": _limit(limit),
        "quality": {
            **_given("latency", typed.latency),
            **_given("bandwidth", typed.bandwidth),
            "crypto": CRYPTO_WIREGUARD_PRESHARED if shared else CRYPTO_WIREGUARD,
        },
    }


def _filter(typed: PeeringForm | PeeringEditForm) -> dict[str, Any] | None:
    if not typed.registry_filter:
        return None
    return {"as_set": typed.as_set.strip()} if typed.registry_filter == "set" else {}


def _limit(text: str) -> dict[str, str] | str | None:
    """A number, none at all, or the default."""
    if text.lower() == NO_LIMIT:
        return NO_LIMIT
    return {"prefixes": text} if text else None


def _given(name: str, text: str) -> dict[str, str]:
    return {name: text.strip()} if text.strip() else {}


def edit_form_of(peering: PeeringRead) -> PeeringEditForm:
    """The form of a peering as it stands."""
    policy, link, registry = peering.session.policy, peering.link, peering.registry_filter
    tunnel = link if isinstance(link, TunnelFacts) else None
    return PeeringEditForm(
        version=peering.version,
        description=peering.description,
        enabled="yes" if peering.enabled else "",
        endpoint=(tunnel.endpoint or "") if tunnel else "",
        public_key=tunnel.peer_public_key if tunnel else "",
        mtu=str(tunnel.mtu) if tunnel else "",
        keepalive=_text(tunnel.keepalive) if tunnel else "",
        local_pref=str(policy.local_pref),
        prepend=str(policy.prepend),
        import_limit=str(policy.import_limit.prefixes) if policy.import_limit else NO_LIMIT,
        latency=str(policy.quality.latency) if policy.quality else "",
        bandwidth=str(policy.quality.bandwidth) if policy.quality else "",
        bfd="yes" if peering.session.options.bfd else "",
        registry_filter="" if registry is None else "set" if registry.as_set else "origin",
        as_set=(registry.as_set or "") if registry else "",
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def update_of(present: PeeringRead, typed: PeeringEditForm) -> PeeringUpdate:
    """What the form changes, and nothing else: what it does not show stays as it is."""
    shown = edit_form_of(present)
    hidden = frozenset[str]() if isinstance(present.link, TunnelFacts) else _OF_THE_TUNNEL
    changed = {
        name: value.strip()
        for name, value in typed.model_dump(exclude={*FactForm.model_fields, *hidden}).items()
        if value.strip() != getattr(shown, name)
    }
    document: dict[str, Any] = {name: changed[name] for name in ("description",) if name in changed}
    if "enabled" in changed:
        document["enabled"] = typed.enabled == "yes"
    if changed.keys() & {"registry_filter", "as_set"}:
        document["registry_filter"] = _filter(typed)
    if link := _changed_link(changed):
        document["link"] = link
    if session := _changed_session(changed):
        document["session"] = session
    return checked(PeeringUpdate, document)


def _changed_link(changed: Mapping[str, str]) -> dict[str, Any]:
    link: dict[str, Any] = {name: changed[name] or None for name in ("endpoint", "mtu") if name in changed}
    if "public_key" in changed:
        link["peer_public_key"] = changed["public_key"]
    if "keepalive" in changed:
        link["keepalive"] = changed["keepalive"] or "off"
    return link


def _changed_session(changed: Mapping[str, str]) -> dict[str, Any]:
    policy: dict[str, Any] = {
        name: changed[name] or None for name in ("local_pref", "prepend") if name in changed
    }
    if "import_limit" in changed:
        limit = changed["import_limit"]
        policy["import_limit"] = _limit(limit)
    quality = {name: changed[name] or None for name in ("latency", "bandwidth") if name in changed}
    if quality:
        policy["quality"] = quality
    session: dict[str, Any] = {"policy": policy} if policy else {}
    if "bfd" in changed:
        session["options"] = {"bfd": changed["bfd"] == "yes"}
    return session
