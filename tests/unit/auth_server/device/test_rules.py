"""Codes that people type."""

from hypothesis import given
from hypothesis import strategies as st

from auth_server.device.rules import ALPHABET, mint_user_code, normal_user_code, shown_user_code

LETTERS = st.text(ALPHABET, min_size=8, max_size=8)


class TestNormalUserCode:
    @given(LETTERS, st.lists(st.sampled_from([" ", "-", "–", ".", "_", "\t"]), max_size=4), st.booleans())
    def test_case_and_what_stands_between_do_not_count(
        self, letters: str, between: list[str], lower: bool
    ) -> None:
        typed = shown_user_code(letters.lower() if lower else letters).replace("-", "".join(between))
        assert normal_user_code(typed) == letters

    @given(st.text())
    def test_whatever_is_typed_it_is_a_code_or_none(self, typed: str) -> None:
        found = normal_user_code(typed)
        assert found is None or (len(found) == 8 and set(found) <= set(ALPHABET))


class TestMintUserCode:
    def test_what_is_minted_can_be_typed(self) -> None:
        code = mint_user_code()
        assert shown_user_code(normal_user_code(code) or "") == code
