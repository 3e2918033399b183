"""Rows about the servers themselves: what the contract must even out, and what the tiers rely on."""

import time
from collections.abc import Iterator
from typing import Any, cast

import pytest
import redis as raw_client

from tests.contracts.runtime_state.language import Row, agrees, read_rows, show, show_fields, steps, words
from tests.contracts.runtime_state.subjects import fit_url, random_prefix

KEYS = {"DEL": slice(1, None)}
MEANINGS = {
    "WRONGTYPE": "E:type",
    "not an integer or out of range": "E:notint",
    "invalid expire time": "E:expire",
    "wrong number of arguments": "E:arity",
    "syntax error": "E:syntax",
    "overflow": "E:overflow",
}


class RawServer:
    """Sends commands as they are written and reads the answers undecoded."""

    def __init__(self, url: str) -> None:
        self.prefix = random_prefix()
        self.client: Any = raw_client.Redis.from_url(url, protocol=2, single_connection_client=True)
        self.client.response_callbacks.clear()

    def send(self, *parts: str | bytes) -> object:
        try:
            return self.client.execute_command(*parts)
        except raw_client.ResponseError as error:
            return meaning(error)

    def answer(self, command: str) -> str:
        if command.startswith("MULTI["):
            return self._transaction(steps(command))
        parts = words(command)
        if parts[0] == "GONE":
            while self.send("PTTL", self.prefix + parts[1]) != -2:
                time.sleep(0.005)  # the server's own expiry
            return "gone"
        return shown(parts[0], self.send(*self._prefixed(parts)))

    def _transaction(self, commands: list[list[str]]) -> str:
        self.send("MULTI")
        refused = [queued for parts in commands if (queued := self.send(*self._prefixed(parts))) != b"QUEUED"]
        answers = self.send("EXEC")
        if refused:
            return str(refused[0])
        assert isinstance(answers, list)
        answers = [meaning(a) if isinstance(a, raw_client.ResponseError) else a for a in answers]
        return f"[{', '.join(shown(p[0], a) for p, a in zip(commands, answers, strict=True))}]"

    def _prefixed(self, parts: list[str]) -> list[str]:
        keys = KEYS.get(parts[0], slice(1, 2))
        return [
            *parts[: keys.start],
            *(self.prefix + key for key in parts[keys]),
            *parts[1:][len(parts[keys]) :],
        ]


def meaning(error: raw_client.ResponseError) -> str:
    return next((known for text, known in MEANINGS.items() if text in str(error)), f"E:{error}")


def shown(command: str, answer: object) -> str:
    if isinstance(answer, str):
        return answer
    if command in {"EXPIRE", "PEXPIRE", "PERSIST"} and answer == 1:
        return "OK"
    if command == "HGETALL" and isinstance(answer, list):
        return show_fields(zip(answer[::2], answer[1::2], strict=True))
    return show(answer)


@pytest.fixture
def raw(server_url: str) -> Iterator[RawServer]:
    server = RawServer(fit_url(server_url))
    yield server
    for key in cast("list[bytes]", server.send("KEYS", server.prefix + "*")):
        server.send("DEL", key)
    server.client.close()


@pytest.mark.parametrize("row", read_rows("server_rows.txt"), ids=lambda row: f"row_{row.number}")
def test_the_server_answers_as_the_table_says(raw: RawServer, row: Row) -> None:
    for command, expected in zip(row.commands, row.answers, strict=True):
        answer = raw.answer(command)
        assert agrees(command, answer, expected), f"{command} answered {answer}, not {expected}"


def test_row_44_keys_fields_and_values_are_binary_safe(raw: RawServer) -> None:
    key = raw.prefix.encode() + b"k\x00\xff"
    value = b"v\x00\xff\r\n"
    assert raw.send("SET", key, value) == b"OK"
    assert raw.send("GET", key) == value
    assert raw.send("HSET", raw.prefix + "h", b"\xff", b"\x00") == 1
    assert raw.send("HGET", raw.prefix + "h", b"\xff") == b"\x00"


def test_row_69_lua_answers_lose_what_redis_cannot_say(raw: RawServer) -> None:
    assert raw.send("EVAL", "return {1,nil,3}", "0") == [1]
    assert raw.send("EVAL", "return {1,false,3}", "0") == [1, None, 3]
    assert raw.send("EVAL", "return 3.99", "0") == 3
    assert str(raw.send("EVAL", "return redis.error_reply('REVISION 3 4')", "0")).startswith("E:REVISION 3 4")


def test_row_70_json_does_not_survive_lua(raw: RawServer) -> None:
    text = '{"n":9007199254740993,"a":[],"f":1.0}'
    answer = raw.send("EVAL", "return cjson.encode(cjson.decode(ARGV[1]))", "0", text)
    assert isinstance(answer, bytes)
    assert b'"n":9.007199254741e+15' in answer
    assert b'"a":{}' in answer
    assert b'"f":1' in answer
    assert b"1.0" not in answer
