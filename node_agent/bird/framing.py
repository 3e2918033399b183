"""From the bytes of BIRD's control socket to replies, by the shape of the lines and nothing else.

A line is `NNNN-text` (more follows), `NNNN text` (the reply's last), ` text` (same code as before; one blank
is taken off) or `+text` (said by the way, no part of a reply).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from node_agent.bird.errors import BirdReplyTooLarge, BirdSpokeStrangely

#: A whole table can be hundreds of megabytes; whoever wants more asks for less.
MAX_REPLY_BYTES = 5_242_880
#: BIRD cuts its lines near 512 bytes; a line without an end is not BIRD's.
_MAX_LINE_BYTES = 65_536
_CODED = re.compile(rb"^(\d{4})([ -])(.*)$", re.DOTALL)
#: A line that BIRD had no room for, in the middle of an answer that is otherwise good.
LINE_TOO_LONG = 8000
#: The answer was cut because the configuration changed meanwhile.
STOPPED = 8004
_FIRST_FAILURE = 8000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a reply."""

    code: int
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """All lines of an answer, the closing one included."""

    lines: tuple[Line, ...]

    @property
    def code(self) -> int:
        """The code of the closing line, which decides how it went."""
        return self.lines[-1].code

    @property
    def failed(self) -> bool:
        """Whether BIRD refused or failed."""
        return self.code >= _FIRST_FAILURE

    @property
    def partial(self) -> bool:
        """Whether it was cut by a change of configuration: throw it away and ask again."""
        return any(line.code == STOPPED for line in self.lines)

    @property
    def text(self) -> str:
        """The texts, joined by newlines, without the closing line if that is empty."""
        return "\n".join(line.text for line in self.lines).rstrip("\n")

    def texts(self, code: int) -> list[str]:
        """The texts of the lines with this code."""
        return [line.text for line in self.lines if line.code == code]


@dataclass(slots=True)
class ReplyReader:
    """Takes bytes as they come and gives whole replies."""

    limit: int = MAX_REPLY_BYTES
    #: What was said by the way, oldest first; whoever reads it may empty it.
    asides: list[str] = field(default_factory=list)
    _rest: bytearray = field(default_factory=bytearray)
    _lines: list[Line] = field(default_factory=list)
    _size: int = 0

    @property
    def amid(self) -> bool:
        """Whether a reply or a line has begun and not ended."""
        return bool(self._rest or self._lines)

    def feed(self, data: bytes) -> list[Reply]:
        """Replies that these bytes complete. Raises BirdReplyTooLarge or BirdSpokeStrangely."""
        self._size += len(data)
        self._rest += data
        found: list[Reply] = []
        *lines, rest = bytes(self._rest).split(b"\n") if b"\n" in data else (bytes(self._rest),)
        for raw in lines:
            if (reply := self._take(raw.rstrip(b"\r"))) is not None:
                found.append(reply)
                self._size = 0
        self._rest = bytearray(rest)
        if self._size > self.limit:
            raise BirdReplyTooLarge
        if len(self._rest) > _MAX_LINE_BYTES:
            raise BirdSpokeStrangely
        return found

    def _take(self, raw: bytes) -> Reply | None:
        if raw.startswith(b"+"):
            self.asides.append(_text(raw[1:]))
            return None
        if raw.startswith(b" "):
            if not self._lines:
                raise BirdSpokeStrangely
            self._lines.append(Line(self._lines[-1].code, _text(raw[1:])))
            return None
        coded = _CODED.match(raw)
        if coded is None:
            raise BirdSpokeStrangely
        self._lines.append(Line(int(coded[1]), _text(coded[3])))
        if coded[2] == b"-":
            return None
        reply, self._lines = Reply(tuple(self._lines)), []
        return reply


@dataclass(slots=True)
class LineReader:
    """The lines of one reply as they come, for replies that are too large to be kept whole."""

    #: Whether the closing line has come.
    ended: bool = False
    _rest: bytes = b""
    _code: int | None = None

    def feed(self, data: bytes) -> list[Line]:
        """Lines that these bytes complete. Raises BirdSpokeStrangely."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _MAX_LINE_BYTES:
            raise BirdSpokeStrangely
        return [line for raw in lines if (line := self._take(raw.rstrip(b"\r"))) is not None]

    def _take(self, raw: bytes) -> Line | None:
        if raw.startswith(b"+") or self.ended:
            return None
        if raw.startswith(b" ") and self._code is not None:
            return Line(self._code, _text(raw[1:]))
        coded = _CODED.match(raw)
        if coded is None:
            raise BirdSpokeStrangely
        self._code, self.ended = int(coded[1]), coded[2] == b" "
        return Line(self._code, _text(coded[3]))


def _text(raw: bytes) -> str:
    # BIRD cuts lines at a number of bytes, so also in the middle of a character.
    return raw.decode(errors="replace")
