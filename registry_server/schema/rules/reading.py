"""From schema objects to classes. A line of one that cannot be read is a fault, and the rest counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from registry_server.objects.rules.classes import CLASSES, ObjectClass, directory_of
from registry_server.objects.rules.grammar import parse, quote, words
from registry_server.objects.schemas import Attribute
from registry_server.schema.schemas import AttributeRule, ClassSchema, Presence, SchemaFault, SchemaSource

_NAME = re.compile(r"[a-z](?:[a-z0-9_-]*[a-z0-9])?", re.ASCII)
_LOOKUP = "lookup="
_PRESENCES = {presence.value: presence for presence in Presence}
_OFTEN = {"single": True, "multiple": False}
#: Words that are there or not.
_MARKS = frozenset({"primary", "schema"})


def read_schemas(texts: Iterable[tuple[str, bytes]]) -> Mapping[str, ClassSchema]:
    """Every class by its name: as these schema objects describe it, else as this server knows it.

    `texts` are keys and texts of the schema objects, in the order in which the first of a class counts.
    """
    found = {name: built_in(of_class) for name, of_class in CLASSES.items()}
    described: set[str] = set()
    for key, raw in texts:
        schema = read_schema(key, raw)
        if schema is not None and schema.object_class not in described:
            described.add(schema.object_class)
            found[schema.object_class] = schema
    return dict(sorted(found.items()))


def read_schema(key: str, raw: bytes) -> ClassSchema | None:
    """What one schema object describes; None where it names no class that objects here may have."""
    attributes, _ = parse(raw)
    rules, faults = _rules(attributes)
    name = _class_of(key, attributes, rules)
    if name is None:
        return None
    primary = next((rule.name for rule in rules if rule.primary), None)
    return ClassSchema(
        object_class=name,
        source=SchemaSource.REGISTRY,
        schema_key=key,
        directory=_first(attributes, "dir-name") or directory_of(name),
        primary_key=_first(attributes, "primary-key") or primary or CLASSES[name].key,
        owners=tuple(dict.fromkeys(_bare(word) for word in _words(attributes, "network-owner"))),
        attributes=tuple(rules),
        faults=tuple(faults),
    )


def built_in(of_class: ObjectClass) -> ClassSchema:
    """What this server itself knows of a class: the attributes that the index depends on."""
    names = dict.fromkeys([of_class.name, *of_class.required, *sorted(of_class.single), *of_class.references])
    return ClassSchema(
        object_class=of_class.name,
        source=SchemaSource.BUILT_IN,
        schema_key=None,
        directory=directory_of(of_class.name),
        primary_key=of_class.key,
        owners=(),
        attributes=tuple(
            AttributeRule(
                name=name,
                presence=Presence.REQUIRED if name in of_class.required else Presence.OPTIONAL,
                single=name in of_class.single,
                primary=name == of_class.key,
                heads=name == of_class.name,
                lookup=of_class.references.get(name, ()),
            )
            for name in names
        ),
    )


def _rules(attributes: Sequence[Attribute]) -> tuple[list[AttributeRule], list[SchemaFault]]:
    rules: dict[str, AttributeRule] = {}
    faults = []
    for attribute in attributes:
        if attribute.name != "key":
            continue
        read = _rule(attribute.value)
        if isinstance(read, str):
            faults.append(SchemaFault(line=attribute.line, detail=read))
        elif read.name in rules:
            faults.append(SchemaFault(line=attribute.line, detail=f"{read.name} is described twice"))
        else:
            rules[read.name] = read
    return [*rules.values()], faults


def _rule(value: str) -> AttributeRule | str:
    """One line of a schema, or what is wrong with it."""
    described, _, form = value.partition(">")
    name, *told = described.split() or [""]
    name = name.lower()
    if not _NAME.fullmatch(name):
        return f"{quote(name)} is not an attribute name"
    presence = [_PRESENCES[word] for word in told if word in _PRESENCES]
    often = [_OFTEN[word] for word in told if word in _OFTEN]
    lookups = [word.removeprefix(_LOOKUP) for word in told if word.startswith(_LOOKUP)]
    strange = [word for word in told if not _is_known(word)]
    if strange:
        return f"{quote(strange[0])} is no word of a schema"
    if len(presence) != 1 or len(often) != 1:
        return f"{name} needs one of {', '.join(_PRESENCES)} and one of {', '.join(_OFTEN)}"
    return AttributeRule(
        name=name,
        presence=presence[0],
        single=often[0],
        primary="primary" in told,
        heads="schema" in told,
        lookup=tuple(_bare(word) for each in lookups for word in each.split(",") if word),
        form=" ".join(form.split()) or None,
    )


def _is_known(word: str) -> bool:
    return word in _PRESENCES or word in _OFTEN or word in _MARKS or word.startswith(_LOOKUP)


def _class_of(key: str, attributes: Sequence[Attribute], rules: Sequence[AttributeRule]) -> str | None:
    """By the reference, the attribute that stands first, or the schema's own name, whichever is a class."""
    reference = _first(attributes, "ref")
    heads = [rule.name for rule in rules if rule.heads]
    named = [_bare(reference)] if reference else []
    return next(
        (name for name in [*named, *heads, key.lower().removesuffix("-schema")] if name in CLASSES), None
    )


def _bare(reference: str) -> str:
    """The class in a reference such as `dn42.aut-num`; the directory of names is that of a class too."""
    name = reference.lower().rsplit(".", 1)[-1]
    return "domain" if name == "dns" else name


def _first(attributes: Sequence[Attribute], name: str) -> str | None:
    return next(iter(_words(attributes, name)), None)


def _words(attributes: Sequence[Attribute], name: str) -> list[str]:
    return [word for attribute in attributes if attribute.name == name for word in words(attribute.value)]
