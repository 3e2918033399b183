import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.classes import CLASSES
from registry_server.objects.rules.reading import read_object
from registry_server.objects.schemas import ObjectPath, RegistryObject

END = "mnt-by:             FOO-MNT\nsource:             DN42\n"


def read(object_class: str, name: str, text: str) -> RegistryObject:
    return read_object(ObjectPath(object_class, name), text.encode())


def line(name: str, value: str) -> str:
    return f"{f'{name}:':<20}{value}\n"


def codes(found: RegistryObject) -> list[tuple[str, int | None]]:
    return [(problem.code.value, problem.line) for problem in found.problems]


class TestReadObject:
    def test_reads_an_as_number_of_32_bits(self) -> None:
        text = line("aut-num", "AS4294967295") + line("as-name", "FOO-AS") + END
        found = read("aut-num", "AS4294967295", text)
        assert (found.asn, found.key, found.indexed, codes(found)) == (4294967295, "AS4294967295", True, [])

    def test_derives_one_route_of_each_distinct_origin(self) -> None:
        text = line("route", "192.0.2.0/24") + line("origin", "AS64496") + line("origin", "as64497") + END
        found = read("route", "192.0.2.0_24", text)
        assert [(route.prefix.text, route.origin) for route in found.routes] == [
            ("192.0.2.0/24", 64496),
            ("192.0.2.0/24", 64497),
        ]

    def test_leaves_one_bad_origin_out_and_keeps_the_others(self) -> None:
        text = (
            line("route", "192.0.2.0/24") + line("origin", "ASAS64496") + line("origin", "AS64497 # us") + END
        )
        found = read("route", "192.0.2.0_24", text)
        assert [route.origin for route in found.routes] == [64497]
        assert codes(found) == [("invalid_origin", 2)]

    def test_derives_nothing_from_a_prefix_with_host_bits(self) -> None:
        text = line("route", "192.0.2.1/24") + line("origin", "AS64496") + END
        found = read("route", "192.0.2.1_24", text)
        assert (found.routes, found.references, found.indexed) == ((), (), False)
        assert codes(found) == [("host_bits", 1)]

    def test_derives_nothing_from_a_prefix_of_the_other_family(self) -> None:
        found = read(
            "route6", "192.0.2.0_24", line("route6", "192.0.2.0/24") + line("origin", "AS64496") + END
        )
        assert codes(found) == [("invalid_prefix", 1)]

    def test_is_found_by_its_file_when_the_key_is_of_another_object(self) -> None:
        text = line("mntner", "BAR-MNT") + END
        found = read("mntner", "FOO-MNT", text)
        assert (found.key, found.indexed, codes(found)) == ("FOO-MNT", False, [("key_mismatch", 1)])

    def test_forgives_another_case_of_the_file_name(self) -> None:
        found = read("mntner", "foo-mnt", line("mntner", "FOO-MNT") + END)
        assert (found.key, found.indexed, codes(found)) == ("FOO-MNT", True, [("key_case", 1)])

    def test_puts_the_slash_back_into_the_key_of_a_broken_prefix_object(self) -> None:
        assert read("route", "192.0.2.0_24", "").key == "192.0.2.0/24"

    def test_reports_a_range_that_is_not_that_of_the_prefix(self) -> None:
        text = line("inetnum", "192.0.2.255 - 192.0.2.0") + line("cidr", "192.0.2.0/24")
        found = read("inetnum", "192.0.2.0_24", text + line("netname", "FOO-NET") + line("source", "DN42"))
        assert codes(found) == [("range_mismatch", 1)]

    def test_refers_to_each_word_once_and_in_the_folded_form(self) -> None:
        text = line("as-set", "AS-FOO") + line("members", "AS64496, AS-Bar AS64496 # nick") + END
        found = read("as-set", "AS-FOO", text)
        assert [(reference.target, reference.shown) for reference in found.references] == [
            ("as64496", "AS64496"),
            ("as-bar", "AS-Bar"),
            ("foo-mnt", "FOO-MNT"),
        ]

    def test_takes_any_for_no_name(self) -> None:
        text = line("as-set", "AS-FOO") + line("mbrs-by-ref", "ANY") + END
        assert [reference.target for reference in read("as-set", "AS-FOO", text).references] == ["foo-mnt"]

    def test_leaves_out_a_reference_that_no_key_can_answer(self) -> None:
        text = line("as-set", "AS-FOO") + line("members", "A" * 5000) + END
        found = read("as-set", "AS-FOO", text)
        assert codes(found) == [("invalid_reference", 2)]
        assert [reference.target for reference in found.references] == ["foo-mnt"]

    def test_tells_all_that_is_missing(self) -> None:
        found = read("aut-num", "AS64496", line("aut-num", "AS64496"))
        assert [problem.detail for problem in found.problems] == [
            "as-name is missing",
            "mnt-by is missing",
            "source is missing",
        ]

    def test_keeps_a_max_length_that_is_too_short_for_who_derives_a_roa(self) -> None:
        text = line("route", "192.0.2.0/24") + line("origin", "AS64496") + line("max-length", "20") + END
        found = read("route", "192.0.2.0_24", text)
        assert [route.max_length for route in found.routes] == [20]
        assert codes(found) == [("max_length_too_short", 3)]

    @pytest.mark.parametrize("text", ["33", "24-32", "x", "9" * 5000, "²"])
    def test_reports_a_max_length_that_is_none(self, text: str) -> None:
        raw = line("route", "192.0.2.0/24") + line("origin", "AS64496") + line("max-length", text) + END
        found = read("route", "192.0.2.0_24", raw)
        assert codes(found) == [("invalid_max_length", 3)]
        assert found.routes[0].max_length is None

    @given(st.sampled_from(sorted(CLASSES)), st.binary(max_size=300))
    def test_never_raises(self, object_class: str, raw: bytes) -> None:
        read_object(ObjectPath(object_class, "FOO"), raw)

    @given(
        st.sampled_from(sorted(CLASSES)),
        st.dictionaries(
            st.sampled_from(
                ["origin", "max-length", "cidr", "auth", "members", "mnt-by", "source", "nic-hdl"]
            ),
            st.text(max_size=20),
        ),
        st.text(max_size=30),
    )
    def test_never_raises_on_odd_values(self, object_class: str, values: dict[str, str], key: str) -> None:
        text = line(object_class, key) + "".join(line(name, value) for name, value in values.items())
        found = read_object(ObjectPath(object_class, "FOO"), text.encode(errors="replace"))
        assert len(found.key) <= 255
