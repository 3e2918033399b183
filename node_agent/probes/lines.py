"""From a tool's bytes to lines that are fit to show, whatever the tool prints."""

from __future__ import annotations

import re

#: Control characters that a terminal would act on; a tab is harmless.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_PIECES = re.compile(rb"\n|\r|[^\r\n]+")
_LONGEST_CHARACTER = 4


class LineSplitter:
    r"""Cuts one pipe's bytes into lines, in bounded memory.

    LF, CR LF and a lone CR end a line, so each state of a progress bar is a line of its own; an empty
    piece that a lone CR ends is dropped. Blank lines that LF ends are kept. A line longer than
    `line_bytes` is cut and says how much is missing. What is not UTF-8 is replaced, control characters
    are written as `\xNN`.
    """

    def __init__(self, line_bytes: int) -> None:
        self._limit = line_bytes
        self._kept = bytearray()
        self._dropped = 0
        #: The line has just been ended by CR, so a LF that follows belongs to the same end.
        self._just_returned = False

    def feed(self, data: bytes) -> list[str]:
        """The lines that these bytes complete."""
        lines: list[str] = []
        for piece in _PIECES.findall(data):
            if piece == b"\n":
                if not self._just_returned:
                    lines.append(self._line())
                self._just_returned = False
            elif piece != b"\r":
                self._take(piece)
                self._just_returned = False
            elif self._kept:
                lines.append(self._line())
                self._just_returned = True
        return lines

    def finish(self) -> list[str]:
        """The last line, if no end came for it."""
        return [self._line()] if self._kept else []

    def _take(self, piece: bytes) -> None:
        room = self._limit - len(self._kept)
        self._kept += piece[:room]
        self._dropped += max(0, len(piece) - room)

    def _line(self) -> str:
        raw, dropped = bytes(self._kept), self._dropped
        self._kept.clear()
        self._dropped = 0
        if not dropped:
            return printable(raw)
        whole = _without_half_character(raw)
        return f"{printable(whole)} … [{dropped + len(raw) - len(whole)} bytes cut]"


def printable(raw: bytes) -> str:
    """Text without anything that a terminal or a page would act on."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", raw.decode(errors="replace"))


def _without_half_character(raw: bytes) -> bytes:
    """The bytes less a UTF-8 sequence that the cut went through."""
    for back in range(1, min(_LONGEST_CHARACTER, len(raw)) + 1):
        byte = raw[-back]
        if byte & 0b1100_0000 == 0b1000_0000:  # noqa: PLR2004 - RFC 3629
            continue
        needed = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4  # noqa: PLR2004 - RFC 3629
        return raw if needed <= back else raw[:-back]
    return raw
