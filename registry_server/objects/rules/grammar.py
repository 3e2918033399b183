"""The text of one object: a superset of what the known readers of such files accept.

Split at the first colon; name trimmed and lower-cased, value trimmed; a line that starts with a blank, a tab
or `+` continues the value above, a lone `+` is a blank line in it. What is read with good will is reported.
"""

from __future__ import annotations

import re
from functools import lru_cache

from registry_server.objects.schemas import Attribute, Problem, ProblemCode

_NAME = re.compile(r"[a-z](?:[a-z0-9_-]*[a-z0-9])?", re.ASCII)
_WORD = re.compile(r"[A-Z0-9:_-]+", re.ASCII | re.IGNORECASE)
_MERGE_MARKERS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
#: Other readers take the value from this column on, whatever stands before it.
_VALUE_COLUMN = 20
#: No-break and zero-width spaces, directional marks, byte order mark: no reviewer sees them.
_INVISIBLE = re.compile("[\u00a0\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
#: What stands before the value in a well-written line: name, colon, and blanks up to column 20.
_HEAD = re.compile(r"([a-z](?:[a-z0-9_-]*[a-z0-9])?): +", re.ASCII)
#: As numbers: looking for a byte is quick, looking for a text of one byte is not.
_NUL, _CARRIAGE_RETURN = 0, 13
#: A detail quotes at most so much of a line.
_QUOTED = 60


def quote(text: str) -> str:
    """A short, printable rendering for a problem's detail."""
    shown = text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in shown
    )


def strip_comment(value: str) -> str:
    """A structured value without its `#` comments, line by line; never for remarks, descr or auth."""
    if "#" not in value:
        return value
    return "\n".join(line.split("#", 1)[0].rstrip() for line in value.split("\n"))


def is_word(value: str) -> bool:
    """Whether a structured value is certainly one member alone."""
    return _WORD.fullmatch(value) is not None


def words(value: str) -> list[str]:
    """The members of a structured value: separated by commas, blanks or lines, comments left out."""
    if is_word(value):
        return [value]
    return strip_comment(value).replace(",", " ").split()


def parse(raw: bytes) -> tuple[list[Attribute], list[Problem]]:
    """Read one object; whatever the bytes are, this answers and never raises."""
    plain = well_written(raw)
    if plain is not None:
        return [Attribute(name, value, number) for number, (name, value) in enumerate(plain, start=1)], []
    if b"\x00" in raw:
        line = raw.count(b"\n", 0, raw.index(b"\x00")) + 1
        return [], [Problem(ProblemCode.NUL_BYTE, line, "the file holds NUL bytes and is not text")]
    text, problems = _decode(raw)
    reader = _Reader(problems)
    for number, content in enumerate(text.split("\n"), start=1):
        reader.read(number, content)
    attributes = reader.finish()
    if not attributes:
        problems.append(Problem(ProblemCode.EMPTY_OBJECT, None, "no line of the file is an attribute"))
    return attributes, problems


def well_written(raw: bytes) -> list[tuple[str, str]] | None:
    """Name and value of each line of a text that has nothing odd about it, as nearly all are; else None."""
    columns = split_columns(raw)
    if columns is None:
        return None
    names = [name_in(head) for head in columns[0]]
    return None if None in names else list(zip(names, columns[1], strict=True))  # type: ignore[arg-type]


def split_columns(raw: bytes) -> tuple[tuple[str, ...], list[str]] | None:
    """The first 20 columns of each line, and the values behind them; None where a value is oddly written.

    Cutting at a column costs a third of matching each line, and the few heads there are can be remembered.
    """
    if _NUL in raw or _CARRIAGE_RETURN in raw:
        return None
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    if lines.pop() or not (text.isascii() or _INVISIBLE.search(text) is None):
        return None
    values = [line[_VALUE_COLUMN:] for line in lines]
    if not lines or "" in values or [*map(str.strip, values)] != values:
        return None
    return tuple([line[:_VALUE_COLUMN] for line in lines]), values


@lru_cache(maxsize=1024)
def name_in(head: str) -> str | None:
    """The name in the first columns of a well-written line, or None where they hold anything else."""
    found = _HEAD.fullmatch(head)
    return found[1] if found else None


def _decode(raw: bytes) -> tuple[str, list[Problem]]:
    """The text with line feeds only, and what was wrong with the bytes as a whole."""
    problems: list[Problem] = []
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problems.append(Problem(ProblemCode.INVALID_UTF8, line, f"byte {error.start} is not UTF-8"))
        text = raw.decode(errors="replace")
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        problems.append(Problem(ProblemCode.CARRIAGE_RETURN, line, "lines end in CR LF instead of LF"))
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text and not text.endswith("\n"):
        problems.append(
            Problem(ProblemCode.NO_FINAL_NEWLINE, text.count("\n") + 1, "the last line has no line feed")
        )
    if not text.isascii() and (found := _INVISIBLE.search(text)):
        line = text.count("\n", 0, found.start()) + 1
        point = f"U+{ord(found[0]):04X}"
        problems.append(Problem(ProblemCode.INVISIBLE_CHARACTER, line, f"invisible character {point}"))
    return text, problems


class _Reader:
    """Collects attributes line by line."""

    def __init__(self, problems: list[Problem]) -> None:
        #: Each attribute's name, first line and lines of value; joined once, at the end.
        self._open: list[tuple[str, int, list[str]]] = []
        self._problems = problems

    def read(self, number: int, line: str) -> None:
        """Take the next line."""
        if not line:
            return
        if line[-1] in " \t":
            self._report(ProblemCode.TRAILING_BLANK, number, "blanks at the end of the line")
        first = line[0]
        if first in " \t+":
            self._continue(number, line)
        elif first == "#":
            self._report(ProblemCode.COMMENT_LINE, number, "comment lines belong to no attribute")
        elif line.startswith(_MERGE_MARKERS) or line == "=======":
            self._report(ProblemCode.MERGE_MARKER, number, "an unresolved merge was committed")
        else:
            self._attribute(number, line)

    def finish(self) -> list[Attribute]:
        """All attributes, in the order of the file."""
        attributes = []
        for name, number, lines in self._open:
            value = "\n".join(lines) if len(lines) > 1 else lines[0]
            if not value:
                self._report(ProblemCode.EMPTY_VALUE, number, f"{name} has no value")
            attributes.append(Attribute(name, value, number))
        return attributes

    def _continue(self, number: int, line: str) -> None:
        more = line[1:].strip()
        if self._open and (more or line[0] == "+"):
            self._open[-1][2].append(more)
        elif more:
            self._report(
                ProblemCode.LEADING_CONTINUATION, number, "a continuation line with nothing above it"
            )

    def _attribute(self, number: int, line: str) -> None:
        written, colon, rest = line.partition(":")
        if not colon:
            self._report(ProblemCode.MISSING_COLON, number, f"no colon in {quote(line)}")
            return
        name = written.strip().lower()
        if not _NAME.fullmatch(name):
            self._report(ProblemCode.INVALID_NAME, number, f"{quote(written)} is not an attribute name")
            return
        value = rest.strip()
        if name not in written:
            self._report(ProblemCode.UPPER_CASE_NAME, number, f"{quote(written.strip())} is written {name}")
        if value:
            self._check_column(number, len(written) + 1, rest)
        self._open.append((name, number, [value]))

    def _check_column(self, number: int, after_colon: int, rest: str) -> None:
        separator = rest[: len(rest) - len(rest.lstrip())]
        if "\t" in separator:
            self._report(ProblemCode.TAB_SEPARATOR, number, "a tab stands between name and value")
        elif after_colon + len(separator) != _VALUE_COLUMN and after_colon < _VALUE_COLUMN:
            column = after_colon + len(separator)
            detail = f"the value starts at column {column}, some readers take it from {_VALUE_COLUMN}"
            self._report(ProblemCode.MISALIGNED_VALUE, number, detail)

    def _report(self, code: ProblemCode, number: int, detail: str) -> None:
        self._problems.append(Problem(code, number, detail))
