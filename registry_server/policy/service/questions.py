"""Answers what the registry, as it is now, has to say of changes that nobody has made yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from registry_server.lookup.service import class_named
from registry_server.objects.rules.classes import CLASSES, PREFIX_CLASSES, directory_of, file_name_of, fold
from registry_server.objects.rules.grammar import parse, quote, strip_comment
from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix
from registry_server.objects.rules.paths import place
from registry_server.objects.rules.reading import read_object
from registry_server.objects.schemas import Attribute, ObjectPath, Problem, RegistryObject
from registry_server.policy.errors import PolicyNotReady
from registry_server.policy.rules import around, judge
from registry_server.policy.schemas import (
    Action,
    Change,
    Holder,
    HolderRead,
    ObjectionRead,
    PolicyAnswer,
    PolicyQuestion,
    Verdict,
    WantedChange,
)
from registry_server.schema.rules.judging import beyond
from registry_server.schema.schemas import Finding, FindingCode, FindingRead
from registry_server.schema.service import SchemaService
from registry_server.snapshot.schemas.content import Snapshot
from shared.kernel.errors import FieldError, InvalidInput


@dataclass(frozen=True, slots=True)
class PolicyService:
    """Judges by the current snapshot, and changes nothing."""

    current: Callable[[], Snapshot | None]
    schemas: SchemaService

    def about(self, object_class: str, key: str, mntner: str | None) -> PolicyAnswer:
        """Whether the maintainer may change the object, or add it where there is none.

        Raises PolicyNotReady, ObjectClassUnknown or InvalidInput.
        """
        registry = self._registry()
        known = class_named(object_class)
        named = _canonical(known, key, "key")
        before = _text_of(registry, known, named)
        change = Change(_path(known, named), known, named, before, before or b"")
        return self._answer(registry, mntner, [change])

    def ask(self, question: PolicyQuestion) -> PolicyAnswer:
        """What speaks against the changes taken together. Raises PolicyNotReady or InvalidInput."""
        registry = self._registry()
        changes = [_change(registry, each, number) for number, each in enumerate(question.changes)]
        return self._answer(registry, question.mntner, changes)

    def _registry(self) -> Snapshot:
        found = self.current()
        if found is None:
            raise PolicyNotReady
        return found

    def _answer(self, registry: Snapshot, mntner: str | None, changes: Sequence[Change]) -> PolicyAnswer:
        coming = {(change.object_class, fold(change.key)) for change in changes if change.after}
        verdicts = [
            _verdict(registry, mntner, change, [*self._problems(registry, change, coming)])
            for change in changes
        ]
        return PolicyAnswer(
            mntner=mntner, allowed=all(verdict.allowed for verdict in verdicts), changes=verdicts
        )

    def _problems(
        self, registry: Snapshot, change: Change, coming: set[tuple[str, str]]
    ) -> Iterator[FindingRead]:
        """What is wrong with the text; an object that comes with the same request counts as there."""
        if not change.after or change.after == change.before:
            return

        def known(classes: Sequence[str], folded: str) -> bool:
            there = (registry.entries[each].object_class for each in registry.by_key.get(folded, ()))
            return any(name in classes for name in there) or any((name, folded) in coming for name in classes)

        read = read_object(ObjectPath(change.object_class, file_name_of(change.key)), change.after)
        told: list[Problem | Finding] = [*read.problems, *_dangling(read, known)]
        told += beyond(told, self.schemas.judge(change.object_class, read.attributes, known))
        found = [FindingRead.of(change.object_class, change.key, each) for each in told]
        yield from sorted(found, key=lambda each: (each.line or 0, each.code))


def _dangling(read: RegistryObject, known: Callable[[Sequence[str], str], bool]) -> Iterator[Finding]:
    kinds = CLASSES[read.object_class].references
    for reference in read.references:
        if not known(kinds[reference.attribute], reference.target):
            detail = f"{reference.attribute} names {quote(reference.shown)}, which is not in the registry"
            yield Finding(FindingCode.DANGLING, reference.line, detail)


def _verdict(registry: Snapshot, mntner: str | None, change: Change, problems: list[FindingRead]) -> Verdict:
    objections = judge(registry, [change], mntner)
    action = Action.ADD if change.before is None else Action.CHANGE
    return Verdict(
        object_class=change.object_class,
        key=change.key,
        path=change.path,
        action=action if change.after is not None else Action.REMOVE,
        allowed=not objections,
        objections=[ObjectionRead(code=each.code, detail=each.detail) for each in objections],
        problems=problems,
        around=[_read(holder) for holder in around(registry, change.object_class, change.key)],
    )


def _read(holder: Holder) -> HolderRead:
    return HolderRead(
        object_class=holder.object_class,
        key=holder.key,
        policy=holder.policy,
        mnt_by=[*holder.maintained_by],
        mnt_lower=[*holder.lower],
    )


def _change(registry: Snapshot, wanted: WantedChange, number: int) -> Change:
    where = f"changes.{number}"
    attributes = parse(wanted.text.encode(errors="replace"))[0] if wanted.text is not None else []
    object_class = class_named(wanted.object_class) if wanted.object_class else _class_in(attributes, where)
    key = _canonical(object_class, wanted.key or _key_in(object_class, attributes, where), f"{where}.key")
    before = _text_of(registry, object_class, key)
    if before is None and wanted.text is None:
        refused = FieldError(where, "object_unknown", f"The registry has no {object_class} {key} to remove.")
        raise InvalidInput("What is not there cannot be removed.", fields=[refused])
    after = None if wanted.text is None else wanted.text.encode(errors="replace")
    return Change(_path(object_class, key), object_class, key, before, after)


def _class_in(attributes: Sequence[Attribute], where: str) -> str:
    """The class that the text names first."""
    found = next((each.name for each in attributes if each.name in CLASSES), None)
    if found is None:
        refused = FieldError(
            where, "object_class_missing", "Begin the text with its class, or name the class."
        )
        raise InvalidInput("It is not clear of which class the object is.", fields=[refused])
    return found


def _key_in(object_class: str, attributes: Sequence[Attribute], where: str) -> str:
    wanted = CLASSES[object_class].key
    found = next((each.value for each in attributes if each.name == wanted and each.value), None)
    if found is None:
        refused = FieldError(where, "key_missing", f"Give the text an attribute {wanted}, or name the key.")
        raise InvalidInput("It is not clear which object is meant.", fields=[refused])
    return strip_comment(found).strip()


def _canonical(object_class: str, key: str, field: str) -> str:
    """The key as the registry writes it. Raises InvalidInput where no such object can have it."""
    key = key.strip()
    if object_class == "aut-num":
        number = parse_asn(key, bare=True)
        if number is not None:
            return f"AS{number}"
        raise _no_key(field, "an AS number is AS and a number from 0 to 4294967295")
    if object_class in PREFIX_CLASSES:
        try:
            return parse_prefix(key.replace("_", "/")).text
        except PrefixRefused as refused:
            raise _no_key(field, refused.detail) from None
    path = _path(object_class, key).encode(errors="replace")
    if not key.isprintable() or place(path)[1] is not None:
        raise _no_key(field, "no object can have this key")
    return key


def _no_key(field: str, why: str) -> InvalidInput:
    return InvalidInput(f"Not a key of this class: {why}.", fields=[FieldError(field, "invalid_key", why)])


def _path(object_class: str, key: str) -> str:
    return f"data/{directory_of(object_class)}/{file_name_of(key)}"


def _text_of(registry: Snapshot, object_class: str, key: str) -> bytes | None:
    entries = (registry.entries[each] for each in registry.by_key.get(fold(key), ()))
    return next((entry.raw for entry in entries if entry.object_class == object_class), None)
