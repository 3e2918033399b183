"""What a refused input means, in the reader's language."""

from __future__ import annotations

from shared.kernel.errors import FieldError
from shared.web.field_words import words
from shared.web.translation import load_languages

ENGLISH, CHINESE = load_languages()["en"], load_languages()["zh-Hans"]


class TestWords:
    def test_the_validator_is_said_by_its_code(self) -> None:
        error = FieldError("asn", "int_parsing", "Input should be a valid integer, unable to parse")
        assert words(error, ENGLISH) == "Write a whole number"
        assert words(error, CHINESE) == "请填写整数"

    def test_of_several_values_the_one_that_is_meant_is_named(self) -> None:
        error = FieldError("prefixes4", "ip_v4_network", "Input is not a valid IPv4 network", "foo")
        for language in (ENGLISH, CHINESE):
            assert words(error, language).startswith("foo: ")
            assert "172.20.99.0/26" in words(error, language)

    def test_english_readers_get_what_was_raised_of_our_own_codes(self) -> None:
        error = FieldError("asn", "own_asn", "That is r1's own.")
        assert words(error, ENGLISH) == "That is r1's own."
        assert words(error, CHINESE) != error.message

    def test_an_unknown_code_is_said_as_it_was_raised(self) -> None:
        error = FieldError("interface", "value_error", "interface wg-f is there twice")
        assert words(error, CHINESE) == "interface wg-f is there twice"
