"""Schema objects read as data."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.classes import CLASSES
from registry_server.samples.rules.schemas import schemas
from registry_server.schema.rules.reading import read_schema, read_schemas
from registry_server.schema.schemas import ClassSchema, Presence, SchemaSource


def schema(*lines: str, key: str = "AUT-NUM-SCHEMA", ref: str = "dn42.aut-num") -> bytes:
    """A schema object of these `key:` lines."""
    head = [f"schema:             {key}", f"ref:                {ref}"] if ref else [f"schema: {key}"]
    return "\n".join([*head, *(f"key:                {line}" for line in lines), ""]).encode()


def read(*lines: str) -> ClassSchema:
    found = read_schema("AUT-NUM-SCHEMA", schema(*lines))
    assert found is not None
    return found


class TestReadSchema:
    def test_a_line_says_who_must_be_there_how_often_and_what_is_named(self) -> None:
        found = read(
            "aut-num   required  single   primary schema > [as-number]",
            "mnt-by\trequired  multiple lookup=dn42.mntner,dn42.role > [mntner]",
            "import    deprecate multiple",
            "descr     recommend single > [text]...",
        )
        number, by, old, text = found.attributes
        assert (number.presence, number.single, number.primary, number.heads) == (
            Presence.REQUIRED,
            True,
            True,
            True,
        )
        assert (by.single, by.lookup, by.form) == (False, ("mntner", "role"), "[mntner]")
        assert (old.presence, old.form) == (Presence.DEPRECATED, None)
        assert (text.presence, text.form) == (Presence.RECOMMENDED, "[text]...")
        assert (found.source, found.schema_key, found.primary_key) == (
            SchemaSource.REGISTRY,
            "AUT-NUM-SCHEMA",
            "aut-num",
        )

    def test_a_line_that_cannot_be_read_is_told_and_the_rest_counts(self) -> None:
        found = read(
            "aut-num required single primary schema",
            "as-name sometimes single",
            "descr required",
            "-bad required single",
            "aut-num required single",
            "mnt-by required multiple",
        )
        assert [rule.name for rule in found.attributes] == ["aut-num", "mnt-by"]
        assert [fault.line for fault in found.faults] == [4, 5, 6, 7]
        assert "sometimes is no word of a schema" in found.faults[0].detail
        assert found.faults[3].detail == "aut-num is described twice"

    def test_the_directory_of_names_and_the_owners_are_told(self) -> None:
        raw = schema("domain required single primary schema", key="DNS-SCHEMA", ref="dn42.domain")
        raw += b"dir-name:           dns\nnetwork-owner:      dn42.inetnum dn42.inet6num\n"
        found = read_schema("DNS-SCHEMA", raw)
        assert found is not None
        assert (found.object_class, found.directory) == ("domain", "dns")
        assert found.owners == ("inetnum", "inet6num")

    def test_without_a_reference_the_attribute_that_stands_first_names_the_class(self) -> None:
        found = read_schema("X-SCHEMA", schema("person required single schema", key="X-SCHEMA", ref=""))
        assert found is not None
        assert found.object_class == "person"

    def test_a_schema_of_something_unknown_describes_nothing(self) -> None:
        assert read_schema("FOO-SCHEMA", schema("foo required single schema", ref="dn42.foo")) is None

    @given(st.binary(max_size=400))
    def test_whatever_it_holds_it_is_read_or_left(self, raw: bytes) -> None:
        read_schema("AUT-NUM-SCHEMA", b"ref: dn42.aut-num\nkey: " + raw)


class TestReadSchemas:
    def test_a_class_without_a_schema_is_as_this_server_knows_it(self) -> None:
        found = read_schemas([])
        assert set(found) == set(CLASSES)
        assert found["route"].source is SchemaSource.BUILT_IN
        assert found["route"].rules["origin"].presence is Presence.REQUIRED
        assert found["inetnum"].primary_key == "cidr"

    def test_of_two_schemas_of_a_class_the_first_counts(self) -> None:
        texts = [(key, schema("aut-num required single schema", key=key)) for key in ("A-SCHEMA", "B-SCHEMA")]
        assert read_schemas(texts)["aut-num"].schema_key == "A-SCHEMA"

    def test_those_of_a_made_up_registry_have_no_faults(self) -> None:
        found = read_schemas((file.path.decode().rsplit("/", 1)[-1], file.raw) for file in schemas())
        described = [each for each in found.values() if each.source is SchemaSource.REGISTRY]
        assert len(described) == len([*schemas()])
        assert not any(each.faults for each in described)
        assert found["domain"].directory == "dns"
        assert found["inet6num"].primary_key == "cidr"
