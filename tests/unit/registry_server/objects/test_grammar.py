from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.grammar import parse, quote, strip_comment, words
from registry_server.objects.schemas import Attribute, ProblemCode


def found(raw: bytes) -> list[tuple[str, int | None]]:
    return [(problem.code.value, problem.line) for problem in parse(raw)[1]]


class TestParse:
    def test_reads_a_well_written_object_without_a_complaint(self) -> None:
        attributes, problems = parse(b"mntner:             FOO-MNT\nmnt-by:             FOO-MNT\n")
        assert attributes == [Attribute("mntner", "FOO-MNT", 1), Attribute("mnt-by", "FOO-MNT", 2)]
        assert problems == []

    def test_splits_at_the_first_colon_only(self) -> None:
        attributes, _ = parse(b"remarks:            see https://foo.example/\n")
        assert attributes[0].value == "see https://foo.example/"

    def test_joins_the_lines_of_a_continued_value(self) -> None:
        raw = b"remarks:            one\n                    two\n+\n+three\n\tfour\n"
        attributes, problems = parse(raw)
        assert attributes == [Attribute("remarks", "one\ntwo\n\nthree\nfour", 1)]
        assert problems == []

    def test_takes_an_indented_attribute_for_a_continuation(self) -> None:
        attributes, _ = parse(b"descr:              ours\n  members: AS-FOO\n")
        assert attributes == [Attribute("descr", "ours\nmembers: AS-FOO", 1)]

    def test_keeps_a_value_that_starts_before_the_common_column(self) -> None:
        attributes, _ = parse(b"nic-hdl: FOO-DN42\n")
        assert attributes == [Attribute("nic-hdl", "FOO-DN42", 1)]
        assert found(b"nic-hdl: FOO-DN42\n") == [("misaligned_value", 1)]

    def test_does_not_blame_a_long_name_for_its_column(self) -> None:
        assert found(b"a-very-long-attribute-name: value\n") == []

    def test_keeps_a_hash_in_text(self) -> None:
        attributes, _ = parse(b"remarks:            channel #foo\n")
        assert attributes[0].value == "channel #foo"

    def test_reads_upper_case_names_in_lower_case(self) -> None:
        attributes, problems = parse(b"Source:             DN42\n")
        assert attributes == [Attribute("source", "DN42", 1)]
        assert [problem.code for problem in problems] == [ProblemCode.UPPER_CASE_NAME]

    def test_reads_lines_that_end_in_cr_lf(self) -> None:
        attributes, _ = parse(b"source:             DN42\r\nmnt-by:             FOO-MNT\r\n")
        assert [attribute.value for attribute in attributes] == ["DN42", "FOO-MNT"]
        assert found(b"source:             DN42\r\n") == [("carriage_return", 1)]

    def test_names_the_line_of_each_problem(self) -> None:
        raw = b" lost\nsource:             DN42\nno words\n# note\n12: x\nremarks:\nmnt-by:\tFOO-MNT \n"
        assert found(raw) == [
            ("leading_continuation", 1),
            ("missing_colon", 3),
            ("comment_line", 4),
            ("invalid_name", 5),
            ("trailing_blank", 7),
            ("tab_separator", 7),
            ("empty_value", 6),
        ]

    def test_reports_every_marker_of_an_unresolved_merge(self) -> None:
        raw = b"<<<<<<< HEAD\nsource:             A\n=======\nsource:             B\n>>>>>>> topic\n"
        assert found(raw) == [("merge_marker", 1), ("merge_marker", 3), ("merge_marker", 5)]

    def test_reads_nothing_of_a_file_with_nul_bytes(self) -> None:
        attributes, problems = parse(b"source:             DN42\nx: \x00\n")
        assert attributes == []
        assert [(problem.code, problem.line) for problem in problems] == [(ProblemCode.NUL_BYTE, 2)]

    def test_names_the_line_that_is_not_utf_8(self) -> None:
        assert found(b"source:             DN42\nremarks:            Z\xfcrich\n") == [("invalid_utf8", 2)]

    def test_reports_an_empty_file_once(self) -> None:
        assert found(b"") == [("empty_object", None)]

    def test_reads_a_long_continued_value_in_linear_time(self) -> None:
        attributes, _ = parse(b"remarks: x\n" + b" y\n" * 20_000)
        assert attributes[0].value.count("\n") == 20_000

    @given(st.binary(max_size=400))
    def test_never_raises(self, raw: bytes) -> None:
        attributes, problems = parse(raw)
        assert attributes or problems
        lines = raw.count(b"\n") + raw.count(b"\r") + 1
        assert all(problem.line is None or 1 <= problem.line <= lines for problem in problems)

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["mnt-by", "remarks", "x-foo", "a-name-longer-than-the-column"]),
                st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1),
            ),
            min_size=1,
        )
    )
    def test_gives_back_what_was_written(self, written: list[tuple[str, str]]) -> None:
        raw = "".join(f"{f'{name}:':<20}{value}\n" for name, value in written).encode()
        attributes, _ = parse(raw)
        assert [(attribute.name, attribute.value) for attribute in attributes] == written


class TestWords:
    def test_separates_by_commas_blanks_and_lines(self) -> None:
        assert words("AS-A, AS-B\nAS-C  AS-D") == ["AS-A", "AS-B", "AS-C", "AS-D"]

    def test_leaves_comments_out(self) -> None:
        assert words("AS64496   #nick\nAS64497") == ["AS64496", "AS64497"]

    def test_strips_a_comment_line_by_line(self) -> None:
        assert strip_comment("a # b\nc") == "a\nc"


class TestQuote:
    def test_is_short_and_printable(self) -> None:
        assert quote("a\x1b[31m\u202e" + "b" * 100) == "a\ufffd[31m\ufffd" + "b" * 52 + "…"
