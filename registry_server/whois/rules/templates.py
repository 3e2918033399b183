"""What an object of a class consists of, for `-t`, and how values are written, for `-v`."""

from __future__ import annotations

from registry_server.objects.rules.classes import CLASSES
from registry_server.schema.rules.reading import read_schemas
from registry_server.schema.schemas import AttributeRule, ClassSchema, Presence
from registry_server.snapshot.schemas.content import Snapshot
from registry_server.whois.errors import QueryRefused

_PRESENCES = {
    Presence.REQUIRED: "mandatory",
    Presence.OPTIONAL: "optional",
    Presence.RECOMMENDED: "recommended",
    Presence.DEPRECATED: "deprecated",
}


def template_of(snapshot: Snapshot, object_class: str, *, verbose: bool = False) -> bytes:
    """The attributes, with how often each stands: of the registry's schema, else of what this server knows.

    Raises QueryRefused.
    """
    if object_class not in CLASSES:
        raise QueryRefused(f"Unknown object class: {object_class}")
    schema = _schema(snapshot, object_class)
    lines = [_line(schema, rule) for rule in schema.attributes]
    if verbose:
        forms = [f"{rule.name + ':':<20}{rule.form}" for rule in schema.attributes if rule.form]
        lines += ["", *forms] if forms else []
    return "\n".join(lines).encode()


def _schema(snapshot: Snapshot, object_class: str) -> ClassSchema:
    """By the name that schemas of this class have."""
    names = [f"{object_class}-schema", *(["dns-schema"] if object_class == "domain" else [])]
    entries = [snapshot.entries[place] for name in names for place in snapshot.by_key.get(name, ())]
    found = [(each.key, each.raw) for each in entries if each.object_class == "schema" and each.indexed]
    return read_schemas(found)[object_class]


def _line(schema: ClassSchema, rule: AttributeRule) -> str:
    kind = ""
    if rule.name == schema.primary_key:
        kind = "primary/lookup key"
    elif rule.name in CLASSES[schema.object_class].references:
        kind = "inverse key"
    often = "single" if rule.single else "multiple"
    return f"{rule.name + ':':<20}[{_PRESENCES[rule.presence]}]  [{often}]  [{kind}]"
