from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.cache import Kind, PayloadError
from shared.cache.codec import (
    NEGATIVE,
    TOMBSTONE,
    Decoded,
    State,
    decode,
    encode,
    encode_item,
    fence,
    negative,
    tombstone,
)
from tests.unit.shared.cache.test_keys import family

VALUES = family("value:<id>")
TEXTS = family("text:<id>", kind=Kind.TEXT)
LOGS = family("log:<id>", kind=Kind.LOG, cap=10)
COUNTERS = family("counter:<id>", kind=Kind.COUNTER)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


class TestValues:
    @given(json_values.filter(lambda value: value is not None))
    def test_come_back_as_they_were(self, value: Any) -> None:
        try:
            stored = encode(VALUES, value)
        except PayloadError:
            return  # a lone surrogate
        assert decode(VALUES, stored) == Decoded(State.HIT, value)

    def test_are_compact_utf8_with_the_schema_version_first(self) -> None:
        assert (
            encode(VALUES, {"name": "点", "list": [1, 2]})
            == '{"v":1,"d":{"name":"点","list":[1,2]}}'.encode()
        )

    def test_of_another_schema_version_are_not_understood(self) -> None:
        newer = family("value:<id>", schema_version=2)
        assert decode(VALUES, encode(newer, 1)).state is State.UNDECODABLE

    @given(st.binary())
    def test_no_bytes_raise(self, raw: bytes) -> None:
        for declared in (VALUES, TEXTS, LOGS, COUNTERS):
            assert decode(declared, raw).state in State

    @pytest.mark.parametrize(
        "raw", [b"[" * 100_000, b'{"v":1,"d":' * 50_000, b'{"v":[],"d":1}', b'{"v":1,"d":null}']
    )
    def test_that_are_hostile_are_not_understood(self, raw: bytes) -> None:
        assert decode(VALUES, raw).state is State.UNDECODABLE

    def test_that_are_text_stay_as_they_are(self) -> None:
        assert encode(TEXTS, "EXAMPLE-AS") == b"EXAMPLE-AS"
        assert decode(TEXTS, b"EXAMPLE-AS") == Decoded(State.HIT, "EXAMPLE-AS")
        for wrong in (7, "", ["a"]):
            with pytest.raises(PayloadError):
                encode(TEXTS, wrong)

    def test_that_are_counters_are_numbers(self) -> None:
        assert decode(COUNTERS, b"12").value == 12
        assert decode(COUNTERS, b"twelve").state is State.UNDECODABLE


class TestMarks:
    def test_are_never_values(self) -> None:
        assert decode(VALUES, None).state is State.MISS
        assert decode(VALUES, NEGATIVE).state is State.NEGATIVE
        assert decode(VALUES, TOMBSTONE).state is State.NEGATIVE
        assert decode(VALUES, fence()).state is State.FENCED

    def test_no_value_can_be_taken_for_one(self) -> None:
        for mark in ({"v": 0, "n": 1}, {"v": 0, "f": "x"}):
            assert decode(VALUES, encode(VALUES, mark)) == Decoded(State.HIT, mark)

    def test_nothing_and_revoked_differ_where_a_fill_must_tell_them_apart(self) -> None:
        assert negative(VALUES) != tombstone(VALUES)
        assert negative(TEXTS) == tombstone(TEXTS) == b""

    def test_no_two_fences_are_alike(self) -> None:
        assert fence() != fence()


def test_nothing_is_no_item_of_a_log() -> None:
    with pytest.raises(PayloadError):
        encode_item(LOGS, None)


def test_an_item_of_a_log_carries_the_number_that_the_script_puts_before_it() -> None:
    stored = b'{"s":7' + encode_item(LOGS, {"line": []})
    assert decode(LOGS, stored) == Decoded(State.HIT, {"line": []}, 7)
