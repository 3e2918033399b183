"""Patterns of names, held against regular expressions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.lookup.rules.patterns import Pattern, name_of

_SHORT = st.text("ab*", max_size=12)


class TestPattern:
    @given(pattern=_SHORT, text=st.text("ab", max_size=12))
    def test_fits_as_a_regular_expression_would(self, pattern: str, text: str) -> None:
        expression = ".*".join(map(re.escape, pattern.split("*")))
        assert Pattern.of(pattern).fits(text) == bool(re.fullmatch(expression, text))

    @given(pattern=_SHORT, text=st.text("ab", max_size=12))
    def test_whatever_fits_has_the_longest_part(self, pattern: str, text: str) -> None:
        wanted = Pattern.of(pattern)
        assert not wanted.fits(text) or wanted.literal in text

    def test_case_does_not_matter(self) -> None:
        assert Pattern.of("ZÜR*").fits("Zürich")

    def test_many_asterisks_take_no_longer(self) -> None:
        assert not Pattern.of("a*" * 120 + "b").fits("a" * 10_000)


@pytest.mark.parametrize(
    ("object_class", "key", "title", "name"),
    [
        ("person", "FOO-DN42", "Foo Example", "Foo Example"),
        ("person", "FOO-DN42", "", "FOO-DN42"),
        ("mntner", "FOO-MNT", "maintainer of foo", "FOO-MNT"),
    ],
)
def test_an_object_is_called_as_its_document_says(object_class: str, key: str, title: str, name: str) -> None:
    assert name_of(object_class, key, title) == name
