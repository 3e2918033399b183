"""Objects held against the schema of their class."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.classes import CLASSES
from registry_server.objects.rules.grammar import parse
from registry_server.objects.schemas import FileVersion, Severity
from registry_server.schema.rules.forms import objection
from registry_server.schema.rules.judging import judge
from registry_server.schema.rules.reading import built_in, read_schema
from registry_server.schema.schemas import ClassSchema, Finding
from registry_server.schema.service import find_findings
from tests.unit.registry_server.schema.test_reading import schema

KEYS = (
    "mntner    required  single   primary schema > [mntner]",
    "descr     recommend single   > [text]...",
    "admin-c   optional  multiple lookup=dn42.person,dn42.role > [contact]",
    "auth      optional  multiple lookup=dn42.key-cert > [method] [value]...",
    "policy    optional  single   > {open|closed|ask|reserved}",
    "old       deprecate multiple",
    "mnt-by    required  multiple lookup=dn42.mntner > [mntner]",
    "source    required  single   lookup=dn42.registry",
)
THERE = {("mntner", "foo-mnt"), ("registry", "dn42"), ("person", "foo-dn42"), ("key-cert", "pgpkey-abcd")}
GOOD = "mntner: FOO-MNT\ndescr: Foo\nmnt-by: FOO-MNT\nsource: DN42\n"


def known(classes: Sequence[str], folded: str) -> bool:
    return any((name, folded) in THERE for name in classes)


def maintainers() -> ClassSchema:
    found = read_schema("MNTNER-SCHEMA", schema(*KEYS, key="MNTNER-SCHEMA", ref="dn42.mntner"))
    assert found is not None
    return found


def found_in(text: str) -> list[Finding]:
    return judge(maintainers(), parse(text.encode())[0], known)


def codes(text: str) -> list[tuple[str, int | None]]:
    return [(finding.code.value, finding.line) for finding in found_in(text)]


class TestJudge:
    def test_an_object_as_it_should_be_has_nothing_against_it(self) -> None:
        assert codes(GOOD) == []

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            (GOOD + "nick: foo\n", [("unknown_attribute", 5)]),
            (GOOD + "x-nick: foo\n", []),
            (GOOD + "old: foo\n", [("deprecated_attribute", 5)]),
            (GOOD + "descr: more\n", [("repeated_attribute", 5)]),
            (GOOD.replace("descr: Foo\n", ""), [("recommended_attribute_missing", None)]),
            (GOOD.replace("mnt-by: FOO-MNT\n", ""), [("missing_attribute", None)]),
            ("descr: Foo\n" + GOOD.replace("descr: Foo\n", ""), [("wrong_first_attribute", 1)]),
            (GOOD + "admin-c: FOO-DN42, GONE-DN42  # both\n", [("dangling_reference", 5)]),
            (GOOD + "auth: PGPKEY-ABCD\nauth: ssh-ed25519 AAAA PGPKEY-0000\n", []),
            (GOOD + "auth: PGPKEY-0000 x\n", [("dangling_reference", 5)]),
            (GOOD + "policy: maybe\n", [("invalid_form", 5)]),
            (GOOD + "policy: OPEN  # since long\n", []),
            ("person: Foo\nnick: x\n", []),
            ("", []),
        ],
    )
    def test_each_thing_is_told_with_its_line(self, text: str, found: list[tuple[str, int | None]]) -> None:
        assert codes(text) == found

    def test_an_unknown_attribute_is_told_with_the_remedy(self) -> None:
        (finding,) = found_in(GOOD + "nick: foo\n")
        assert finding.detail == "nick is no attribute of mntner; write x-nick for one of your own"
        assert finding.severity is Severity.WARNING

    def test_style_is_a_notice(self) -> None:
        assert {each.severity for each in found_in(GOOD + "old: x\npolicy: maybe\n")} == {Severity.NOTICE}

    def test_a_class_without_a_schema_of_the_registry_is_not_held_against_anything(self) -> None:
        assert judge(built_in(CLASSES["mntner"]), parse(b"mntner: FOO-MNT\nnick: x\n")[0], known) == []


class TestForms:
    @pytest.mark.parametrize(
        ("form", "value", "refused"),
        [
            ("{ALLOCATED|ASSIGNED} {PI|PA|}", "ALLOCATED PI", False),
            ("{ALLOCATED|ASSIGNED} {PI|PA|}", "assigned", False),
            ("{ALLOCATED|ASSIGNED} {PI|PA|}", "ASSIGNED PX", True),
            ("{open,closed}", "ask", True),
            ("[name] {open|closed}", "foo", True),
            ("[method] [value]...", "pgp-fingerprint", False),
            ("[name] [address]", "ns1.foo.dn42", False),
            ("'AS' [number]", "AS 1", False),
            ("'AS' [number]", "AX 1", True),
            ("{[prefix]|[range]}", "anything", False),
            ("whatever this means", "anything", False),
            ("[text]...", "a b c", False),
            ("[one]", "more words than one", False),
        ],
    )
    def test_only_what_is_certain_is_refused(self, form: str, value: str, refused: bool) -> None:
        assert (objection(form, value) is not None) is refused

    @given(st.text(max_size=60), st.text(max_size=60))
    def test_no_form_is_a_fault(self, form: str, value: str) -> None:
        objection(form, value)


class TestFindFindings:
    def test_the_schemas_among_the_files_judge_the_others(self) -> None:
        files = {
            "data/schema/MNTNER-SCHEMA": schema(*KEYS, key="MNTNER-SCHEMA", ref="dn42.mntner"),
            "data/registry/DN42": b"registry: DN42\n",
            "data/mntner/FOO-MNT": (GOOD + "nick: foo\nadmin-c: FOO-DN42\n").encode(),
            "data/person/FOO-DN42": b"person: Foo\nnic-hdl: FOO-DN42\n",
            "data/.git/odd": b"mntner: x\n",
        }
        versions = [FileVersion(path.encode(), "100644", "", raw) for path, raw in files.items()]
        assert [(path, each.code.value, each.line) for path, each in find_findings(versions)] == [
            ("data/mntner/FOO-MNT", "unknown_attribute", 5)
        ]

    def test_without_schemas_there_is_nothing_to_find(self) -> None:
        raw = (GOOD + "nick: foo\n").encode()
        assert find_findings([FileVersion(b"data/mntner/FOO-MNT", "100644", "", raw)]) == []
