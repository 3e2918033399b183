import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.paths import place, show
from registry_server.objects.schemas import ObjectPath, ProblemCode


class TestPlace:
    def test_finds_the_class_and_the_name(self) -> None:
        assert place(b"data/aut-num/AS4242429901") == (ObjectPath("aut-num", "AS4242429901"), None)

    def test_knows_that_domains_stand_in_dns(self) -> None:
        assert place(b"data/dns/foo.dn42") == (ObjectPath("domain", "foo.dn42"), None)

    @pytest.mark.parametrize(
        "path", [b"README.md", b"utils/check", b"data/filter.txt", b"data/filter6.txt", b""]
    )
    def test_passes_over_what_is_no_object(self, path: bytes) -> None:
        assert place(path) == (None, None)

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            (b"data/person/.DS_Store@SynoResource", ProblemCode.DOT_FILE),
            (b"data/.rpsl/config", ProblemCode.DOT_FILE),
            (b"data/pubring.kbx", ProblemCode.WRONG_DEPTH),
            (b"data/route6/fd6a::/64", ProblemCode.WRONG_DEPTH),
            (b"data/asset/AS-FOO", ProblemCode.UNKNOWN_CLASS),
            (b"data/person/" + b"x" * 600, ProblemCode.PATH_TOO_LONG),
        ],
    )
    def test_reports_what_cannot_be_an_object(self, path: bytes, code: ProblemCode) -> None:
        found, problem = place(path)
        assert found is None
        assert problem is not None
        assert problem.code is code

    @pytest.mark.parametrize(
        "name",
        [b" AS4242420225", b"AS 1", b"a\\b", b"\xff\xfe", b"a\nb", "a\u202eb".encode(), "a\u00a0b".encode()],
    )
    def test_keeps_an_object_with_an_odd_name_and_says_so(self, name: bytes) -> None:
        found, problem = place(b"data/person/" + name)
        assert found is not None
        assert problem is not None
        assert problem.code is ProblemCode.ODD_NAME

    def test_takes_other_scripts_for_what_they_are(self) -> None:
        assert place("data/person/ŚLIMAK-DN42".encode()) == (ObjectPath("person", "ŚLIMAK-DN42"), None)

    @given(st.binary(max_size=700))
    def test_never_raises(self, path: bytes) -> None:
        place(path)
        place(b"data/person/" + path)


class TestShow:
    @given(st.binary(max_size=3000), st.binary(max_size=3000))
    def test_two_paths_never_look_the_same(self, one: bytes, other: bytes) -> None:
        assert (show(one) == show(other)) == (one == other)

    @given(st.binary(max_size=3000))
    def test_fits_both_databases(self, path: bytes) -> None:
        shown = show(path)
        assert "\x00" not in shown
        assert len(shown) <= 1000
        assert shown.encode().decode() == shown
