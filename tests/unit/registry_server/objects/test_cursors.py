import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.cursors import read_cursor, write_cursor
from shared.kernel.errors import InvalidInput

WORDS = st.text(max_size=50).filter(str.isprintable)
NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1)


@given(NUMBERS, WORDS, NUMBERS)
def test_what_was_written_is_read(rank: int, key: str, ident: int) -> None:
    assert read_cursor(write_cursor(rank, key, ident), int, str, int) == [rank, key, ident]


@given(st.text(max_size=100).filter(bool))
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_cursor(text, int, str, int)


@pytest.mark.parametrize("parts", [(True, "a"), (2**63, "a"), (1, "a\x00"), (1,), (1, "a", 2), ("a", 1)])
def test_other_kinds_are_refused(parts: tuple[int | str, ...]) -> None:
    with pytest.raises(InvalidInput):
        read_cursor(write_cursor(*parts), int, str)


def test_no_cursor_is_the_beginning() -> None:
    assert read_cursor(None, int) is None
    assert read_cursor("", int) is None
