from hypothesis import given
from hypothesis import strategies as st

from registry_server.history.rules.reading import StoredChange, difference, kind_of
from registry_server.history.rules.rows import history_rows
from registry_server.history.schemas import ChangeKind, LoggedCommit
from registry_server.mirror.rules.output import parse_log

ONE, TWO = "1" * 40, "2" * 40
NOTHING = b"0" * 40


def stored(before: str | None, after: str | None, moved: str | None = None) -> StoredChange:
    return StoredChange(1, ONE, "Foo", 0, "Change", before, after, moved)


class TestParseLog:
    def test_reads_commits_with_their_changes_and_those_without(self) -> None:
        raw = (
            b"\x02%s\x1f%s %s\x1f17\x1f18\x1fFoo\x1fAdd one\0\n" % (b"a" * 40, b"b" * 40, b"c" * 40)
            + b":000000 100644 %s %s A\0data/person/\x02X\0" % (NOTHING, ONE.encode())
            + b":100644 000000 %s %s D\0README.md\0" % (ONE.encode(), NOTHING)
            + b"\x02%s\x1f\x1f-5\x1f\x1f\xff\x1f\0" % (b"d" * 40)
        )
        first, second = parse_log(raw)
        assert first == LoggedCommit(
            "a" * 40, "b" * 40, 17, "Foo", "Add one", [(b"data/person/\x02X", None, ONE)], 18
        )
        assert (second.parent, second.authored, second.author, second.changes) == (None, 0, "\ufffd", [])


class TestHistoryRows:
    def test_a_text_that_left_one_path_and_stands_at_another_was_moved(self) -> None:
        changes = [(b"data/a/x", ONE, None), (b"data/a/y", None, ONE)]
        rows = history_rows([LoggedCommit("c" * 40, None, 5, "Foo", "Move", changes)], 7)
        assert rows.commits == [7, "c" * 40, "Foo", 5, "Move"]
        assert not rows.added
        assert rows.changes == [
            *("data/a/x", 7, ONE, None, "data/a/y"),
            *("data/a/y", 7, None, ONE, "data/a/x"),
        ]

    def test_one_text_that_left_goes_to_one_place_only(self) -> None:
        changes = [
            (b"data/a/x", ONE, None),
            (b"data/a/y", None, ONE),
            (b"data/a/z", None, ONE),
        ]
        rows = history_rows([LoggedCommit("c" * 40, None, 5, "Foo", "Move", changes)], 1)
        assert rows.changes[4::5] == ["data/a/y", "data/a/x"]
        assert rows.added == ["data/a/z", 1, ONE]

    def test_what_people_wrote_becomes_one_plain_line(self) -> None:
        rows = history_rows([LoggedCommit("c" * 40, None, 5, "A\x00\x1b[31mB", "x" * 999, [])], 1)
        _, _, author, _, summary = rows.commits
        assert author == "A\ufffd\ufffd[31mB"
        assert len(summary) == 300


class TestKindOf:
    def test_says_what_became_of_the_object(self) -> None:
        assert kind_of(stored(None, ONE)) is ChangeKind.ADDED
        assert kind_of(stored(ONE, TWO)) is ChangeKind.CHANGED
        assert kind_of(stored(ONE, None)) is ChangeKind.REMOVED
        assert kind_of(stored(None, ONE, "data/a/x")) is ChangeKind.MOVED_HERE
        assert kind_of(stored(ONE, None, "data/a/x")) is ChangeKind.MOVED_AWAY


class TestDifference:
    def test_shows_lines_with_their_surroundings(self) -> None:
        assert difference(b"a\nb\n", b"a\nc\n") == "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"

    def test_says_where_the_last_line_feed_is_missing(self) -> None:
        assert difference(b"a\n", b"a") == "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"

    def test_equal_texts_have_none(self) -> None:
        assert difference(b"a\n", b"a\n") == ""

    @given(st.binary(max_size=60), st.binary(max_size=60))
    def test_never_fails_whatever_the_bytes(self, before: bytes, after: bytes) -> None:
        assert isinstance(difference(before, after), str)
