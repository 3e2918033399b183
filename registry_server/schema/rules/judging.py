"""Holds an object against the schema of its class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.grammar import quote, words
from registry_server.objects.rules.typed import AttributeKind, kind_of
from registry_server.objects.schemas import Attribute, Severity
from registry_server.schema.rules.forms import objection
from registry_server.schema.schemas import (
    AttributeRule,
    ClassSchema,
    Finding,
    FindingCode,
    Presence,
    SchemaSource,
)

#: Whether there is an object of one of the classes under a folded key.
Known = Callable[[Sequence[str], str], bool]
#: Names that anybody may invent.
_OWN = "x-"
#: A key of a maintainer that is an object of the registry; other ways to prove oneself name none.
_KEY_OBJECT = "pgpkey-"
#: Stands for everybody, and names nobody (RFC 2622, section 5.1).
_ANYBODY = "any"


def judge(schema: ClassSchema, attributes: Sequence[Attribute], known: Known) -> list[Finding]:
    """Everything that the object has against its schema; nothing where the registry has no schema for it.

    An object that does not even name its class is none of that class, and has worse to be told.
    """
    if schema.source is SchemaSource.BUILT_IN:
        return []
    there = {attribute.name for attribute in attributes}
    return [*_Judge(schema, attributes, there, known).findings()] if schema.head in there else []


class Told(Protocol):
    """Something wrong with an object that was said already."""

    @property
    def code(self) -> StrEnum:
        """What it is."""

    @property
    def severity(self) -> Severity:
        """How much it costs."""

    @property
    def line(self) -> int | None:
        """Where it stands."""

    @property
    def detail(self) -> str:
        """In words."""


def beyond(told: Collection[Told], findings: Collection[Finding]) -> list[Finding]:
    """The findings that say something new: a name that is badly written is not called unknown as well."""
    said = {(each.code.value, each.line, each.detail) for each in told}
    bad = {each.line for each in told if each.severity is not Severity.NOTICE}
    return [
        each
        for each in findings
        if (each.code.value, each.line, each.detail) not in said
        and not (each.code is FindingCode.DANGLING and each.line in bad)
    ]


@dataclass(frozen=True, slots=True)
class _Judge:
    schema: ClassSchema
    attributes: Sequence[Attribute]
    there: AbstractSet[str]
    known: Known

    def findings(self) -> Iterator[Finding]:
        yield from self._order()
        yield from self._absent()
        seen: set[str] = set()
        for attribute in self.attributes:
            rule = self.schema.rules.get(attribute.name)
            if rule is None:
                yield from self._unknown(attribute)
                continue
            if rule.single and attribute.name in seen:
                yield Finding(FindingCode.REPEATED, attribute.line, f"{attribute.name} may stand only once")
            seen.add(attribute.name)
            yield from self._value(rule, attribute)

    def _order(self) -> Iterator[Finding]:
        top = self.attributes[0]
        if top.name != self.schema.head:
            yield Finding(FindingCode.FIRST, top.line, f"{top.name} stands before {self.schema.head}")

    def _absent(self) -> Iterator[Finding]:
        for rule in self.schema.wanted:
            if rule.name in self.there:
                continue
            if rule.presence is Presence.REQUIRED:
                yield Finding(FindingCode.MISSING, None, f"{rule.name} is missing")
            else:
                yield Finding(FindingCode.NOT_RECOMMENDED, None, f"{rule.name} is recommended")

    def _unknown(self, attribute: Attribute) -> Iterator[Finding]:
        if not attribute.name.startswith(_OWN):
            detail = (
                f"{attribute.name} is no attribute of {self.schema.object_class}; "
                f"write {_OWN}{attribute.name} for one of your own"
            )
            yield Finding(FindingCode.UNKNOWN, attribute.line, detail)

    def _value(self, rule: AttributeRule, attribute: Attribute) -> Iterator[Finding]:
        if rule.presence is Presence.DEPRECATED:
            yield Finding(FindingCode.DEPRECATED, attribute.line, f"{attribute.name} is deprecated")
        for word in self._named(rule, attribute):
            if not self.known(rule.lookup, fold(word)):
                detail = f"{attribute.name} names {quote(word)}, which is not in the registry"
                yield Finding(FindingCode.DANGLING, attribute.line, detail)
        found = objection(rule.form, attribute.value) if rule.form else None
        if found:
            detail = f"{attribute.name} is written {rule.form}: {found}"
            yield Finding(FindingCode.FORM, attribute.line, detail)

    def _named(self, rule: AttributeRule, attribute: Attribute) -> list[str]:
        """The keys of objects that the value names."""
        if not rule.lookup:
            return []
        found = [word for word in dict.fromkeys(words(attribute.value)) if word.lower() != _ANYBODY]
        if kind_of(self.schema.object_class, attribute.name) is AttributeKind.AUTH:
            return [word for word in found[:1] if word.lower().startswith(_KEY_OBJECT)]
        return found
