"""Strict JSON, headers and what damage does to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.durable import (
    IdentifierRefusedError,
    LoopCheckpointCodec,
    LoopContext,
    RedisPayloadCodec,
    RedisPayloadError,
)
from shared.durable.codecs import CHECKPOINT_SCHEMA, read_header

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), children, max_size=3)
    ),
    max_leaves=8,
)


def sample() -> LoopContext:
    return LoopContext("run-1", plan=["a", {"b": []}], cursor={"step": 3}, metadata={"text": "早 ✓"})


class TestCheckpointCodec:
    @given(
        plan=st.lists(JSON_VALUES, max_size=4),
        metadata=st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=3),
    )
    def test_what_goes_in_comes_out(self, plan: list[Any], metadata: dict[str, Any]) -> None:
        context = LoopContext(
            "run-1",
            plan=plan,
            metadata={name.encode(errors="replace").decode(): value for name, value in metadata.items()},
        )
        decoded = LoopCheckpointCodec().decode("run-1", LoopCheckpointCodec().encode(context, 3))
        context.revision = 3
        assert decoded == context

    def test_writes_the_header_first_and_without_spaces(self) -> None:
        stored = LoopCheckpointCodec().encode(sample(), 12)
        header = read_header(stored)
        assert header is not None
        assert (header.schema, header.revision, header.run_id) == (CHECKPOINT_SCHEMA, 12, "run-1")
        assert header.size + header.body_bytes == len(stored)

    @pytest.mark.parametrize("mask", [0x01, 0x20, 0x80])
    def test_finds_any_flipped_bit_of_any_byte(self, mask: int) -> None:
        codec = LoopCheckpointCodec()
        stored = codec.encode(sample(), 12)
        for position in range(len(stored)):
            damaged = bytearray(stored)
            damaged[position] ^= mask
            with pytest.raises(RedisPayloadError):
                codec.decode("run-1", bytes(damaged))

    def test_finds_any_cut(self) -> None:
        codec = LoopCheckpointCodec()
        stored = codec.encode(sample(), 12)
        for length in range(len(stored)):
            with pytest.raises(RedisPayloadError):
                codec.decode("run-1", stored[:length])

    @pytest.mark.parametrize(
        "value",
        [
            float("nan"),
            float("inf"),
            {1: "a"},
            {None: 1},
            {"deep": [{2: 3}]},
            {"a": object()},
            "\ud800",
            b"bytes",
        ],
    )
    def test_refuses_what_json_cannot_say(self, value: object) -> None:
        with pytest.raises(RedisPayloadError):
            LoopCheckpointCodec().encode(LoopContext("run-1", metadata={"value": value}), 1)

    def test_refuses_what_contains_itself(self) -> None:
        circle: list[Any] = []
        circle.append(circle)
        with pytest.raises(RedisPayloadError):
            LoopCheckpointCodec().encode(LoopContext("run-1", plan=circle), 1)

    def test_refuses_what_is_nested_without_end(self) -> None:
        with pytest.raises(RedisPayloadError):
            LoopCheckpointCodec().decode("run-1", b"[" * 100_000)

    @pytest.mark.parametrize("run_id", ["", "index", "a b", "a{b}", 'a"b', "a\\b", "a" * 201, "ä", "a\n"])
    def test_refuses_an_identifier_that_keys_cannot_carry(self, run_id: str) -> None:
        with pytest.raises(IdentifierRefusedError):
            LoopCheckpointCodec().encode(LoopContext(run_id), 1)

    @pytest.mark.parametrize("data", [None, 7, [], {}])
    def test_refuses_what_is_not_bytes(self, data: object) -> None:
        with pytest.raises(RedisPayloadError):
            LoopCheckpointCodec().decode("run-1", data)

    def test_stores_what_the_redactor_leaves(self) -> None:
        def redact(fields: dict[str, Any]) -> dict[str, Any]:
            return fields | {"metadata": {}}

        context = LoopContext("run-1", metadata={"token": "secret"})
        stored = LoopCheckpointCodec(redact).encode(context, 1)
        assert b"secret" not in stored
        assert context.metadata == {"token": "secret"}


class TestPayloadCodec:
    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"null",
            b"[]",
            b"{",
            b'{"a":1}',
            b'{"schema":"other"}',
            b'{"schema":"s","a":1,"a":2}',
            b'{"schema":"s","a":NaN}',
            b"\xff",
            None,
            3,
        ],
    )
    def test_refuses_anything_but_one_object_of_its_schema(self, data: object) -> None:
        with pytest.raises(RedisPayloadError):
            RedisPayloadCodec().decode("s", data)

    def test_reads_what_a_decoding_client_answers(self) -> None:
        assert RedisPayloadCodec().decode("s", '{"schema":"s","a":[1.0]}') == {"a": [1.0]}

    def test_stores_what_the_redactor_leaves(self) -> None:
        codec = RedisPayloadCodec(
            lambda fields: {name: "***" if name == "token" else value for name, value in fields.items()}
        )
        assert codec.encode("s", {"token": "secret", "a": 1}) == b'{"schema":"s","token":"***","a":1}'
