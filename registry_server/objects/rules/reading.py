"""From the bytes of one file to what it says: typed, referenced and judged."""

from __future__ import annotations

from registry_server.objects.rules import auth, grammar, routes
from registry_server.objects.rules.classes import (
    CLASSES,
    LONGEST_KEY,
    PREFIX_CLASSES,
    SOURCES,
    ObjectClass,
    family_of,
    file_name_of,
    fold,
    key_of,
)
from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix, parse_range
from registry_server.objects.rules.references import read_references
from registry_server.objects.schemas import (
    SEVERITY_OF,
    Attribute,
    ObjectPath,
    Prefix,
    Problem,
    ProblemCode,
    Reference,
    RegistryObject,
    Route,
    Severity,
)


def read_object(place: ObjectPath, raw: bytes, known: tuple[Problem, ...] = ()) -> RegistryObject:
    """Say what the file holds, whatever it holds; `known` are problems found before it was opened."""
    attributes, problems = grammar.parse(raw)
    judge = _Judge(place, CLASSES[place.object_class], attributes, [*known, *problems])
    return judge.decide()


class _Judge:
    """Looks at one object from every side; each check adds problems and none stops the others."""

    def __init__(
        self, place: ObjectPath, of_class: ObjectClass, attributes: list[Attribute], problems: list[Problem]
    ) -> None:
        self.place = place
        self.of_class = of_class
        self.attributes = attributes
        self.problems = problems
        self.first: dict[str, Attribute] = {}
        self.prefix: Prefix | None = None
        self.asn: int | None = None

    def decide(self) -> RegistryObject:
        key = key_of(self.place.object_class, self.place.file_name)
        if self.attributes:
            self._check_shape()
            key = self._check_key() or key
            self._check_values()
        sound = not self.problems or all(
            SEVERITY_OF[problem.code] is not Severity.ERROR for problem in self.problems
        )
        references, derived = (self._references(), self._routes()) if sound else ((), ())
        return RegistryObject(
            object_class=self.place.object_class,
            key=key,
            attributes=tuple(self.attributes),
            references=references,
            routes=derived,
            network=self.prefix if sound and self.of_class.key == "cidr" else None,
            asn=self.asn if sound else None,
            problems=tuple(self.problems),
        )

    def report(self, code: ProblemCode, line: int | None, detail: str) -> None:
        self.problems.append(Problem(code, line, detail))

    def _check_shape(self) -> None:
        """The class comes first, what is required is there, what is single stands once."""
        first = self.first
        single = self.of_class.single
        for attribute in self.attributes:
            if attribute.name not in first:
                first[attribute.name] = attribute
            elif attribute.name in single:
                self.report(
                    ProblemCode.REPEATED_ATTRIBUTE, attribute.line, f"{attribute.name} may stand only once"
                )
        name = self.of_class.name
        top = self.attributes[0]
        if name not in first:
            self.report(ProblemCode.WRONG_CLASS, top.line, f"a {top.name} object in the directory of {name}")
        elif top.name != name:
            self.report(ProblemCode.WRONG_FIRST_ATTRIBUTE, top.line, f"{top.name} stands before {name}")
        for required in self.of_class.required:
            if required not in first and required != name:
                self.report(ProblemCode.MISSING_ATTRIBUTE, None, f"{required} is missing")

    def _check_key(self) -> str | None:
        """The key agrees with the file name and is well formed; None where there is no usable key."""
        attribute = self.first.get(self.of_class.key)
        if attribute is None or not attribute.value:
            if self.of_class.name in self.first:
                self.report(ProblemCode.KEY_MISMATCH, None, f"the key {self.of_class.key} is not given")
            return None
        key = grammar.strip_comment(attribute.value).strip()
        key = self._compare_with_file_name(key, attribute.line)
        if self.of_class.name in PREFIX_CLASSES:
            self._check_prefix(attribute)
        elif self.of_class.name == "aut-num":
            self._check_asn(attribute)
        return key if len(key) <= LONGEST_KEY else None

    def _compare_with_file_name(self, key: str, line: int) -> str:
        """The key by which the object is found: its own, unless it stands in the file of another."""
        wanted, actual = file_name_of(key), self.place.file_name
        if wanted == actual or any(problem.code is ProblemCode.ODD_NAME for problem in self.problems):
            return key
        same = fold(wanted) == fold(actual)
        code = ProblemCode.KEY_CASE if same else ProblemCode.KEY_MISMATCH
        self.report(code, line, f"{grammar.quote(key)} stands in the file {grammar.quote(actual)}")
        return key if same else key_of(self.of_class.name, actual)

    def _check_asn(self, attribute: Attribute) -> None:
        self.asn = parse_asn(grammar.strip_comment(attribute.value).strip())
        if self.asn is None:
            detail = f"{grammar.quote(attribute.value)} is not AS and a number up to 4294967295"
            self.report(ProblemCode.INVALID_ASN, attribute.line, detail)

    def _check_prefix(self, attribute: Attribute) -> None:
        text = grammar.strip_comment(attribute.value).strip()
        try:
            prefix = parse_prefix(text)
        except PrefixRefused as refused:
            self.report(refused.code, attribute.line, f"{grammar.quote(text)}: {refused.detail}")
            return
        family = family_of(self.of_class.name)
        if prefix.family != family:
            self.report(
                ProblemCode.INVALID_PREFIX, attribute.line, f"{prefix.text} is not an IPv{family} prefix"
            )
            return
        if prefix.text != text:
            self.report(ProblemCode.NON_CANONICAL_PREFIX, attribute.line, f"{text} is written {prefix.text}")
        self.prefix = prefix
        if self.of_class.key == "cidr":
            self._check_range(prefix)

    def _check_range(self, prefix: Prefix) -> None:
        attribute = self.first.get(self.of_class.name)
        if attribute and parse_range(attribute.value) != (prefix.first, prefix.last):
            detail = f"{grammar.quote(attribute.value)} is not the range of {prefix.text}"
            self.report(ProblemCode.RANGE_MISMATCH, attribute.line, detail)

    def _check_values(self) -> None:
        source = self.first.get("source")
        if source and source.value not in SOURCES:
            self.report(
                ProblemCode.UNKNOWN_SOURCE, source.line, f"{grammar.quote(source.value)} is no known source"
            )
        if self.of_class.name == "mntner":
            for attribute in self.attributes:
                if attribute.name == "auth":
                    self._check_auth(attribute)

    def _check_auth(self, attribute: Attribute) -> None:
        if auth.is_commented_out(attribute.value):
            self.report(ProblemCode.COMMENTED_AUTH, attribute.line, "a commented-out key proves nothing")
        elif auth.parse_auth(attribute.value).method == auth.UNKNOWN:
            detail = f"{grammar.quote(attribute.value)} is no method that can be verified"
            self.report(ProblemCode.UNKNOWN_AUTH_METHOD, attribute.line, detail)

    def _references(self) -> tuple[Reference, ...]:
        return read_references(self.attributes, self.of_class.references, self.problems)

    def _routes(self) -> tuple[Route, ...]:
        if self.prefix is None or "origin" not in self.first or not self.of_class.name.startswith("route"):
            return ()
        origins = routes.read_origins(self.attributes, self.problems)
        max_length = routes.read_max_length(self.first.get("max-length"), self.prefix, self.problems)
        return tuple(Route(self.prefix, origin, max_length) for origin in origins)
