"""What one registry file says and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How much a problem costs its object."""

    #: The raw text is served, but nothing is derived from the object.
    ERROR = "error"
    #: The object counts; the part that is wrong is left out or read with good will.
    WARNING = "warning"
    #: Style: other tools may read the file differently.
    NOTICE = "notice"


class ProblemCode(StrEnum):
    """What can be wrong with a registry file; codes are stable, sentences are not."""

    # where the file stands
    DOT_FILE = "dot_file"
    WRONG_DEPTH = "wrong_depth"
    UNKNOWN_CLASS = "unknown_class"
    ODD_NAME = "odd_name"
    PATH_TOO_LONG = "path_too_long"
    NOT_A_FILE = "not_a_file"
    FILE_TOO_LARGE = "file_too_large"
    EXECUTABLE = "executable"
    # how the file is written
    NUL_BYTE = "nul_byte"
    INVALID_UTF8 = "invalid_utf8"
    EMPTY_OBJECT = "empty_object"
    MERGE_MARKER = "merge_marker"
    LEADING_CONTINUATION = "leading_continuation"
    MISSING_COLON = "missing_colon"
    INVALID_NAME = "invalid_name"
    INVISIBLE_CHARACTER = "invisible_character"
    CARRIAGE_RETURN = "carriage_return"
    NO_FINAL_NEWLINE = "no_final_newline"
    TAB_SEPARATOR = "tab_separator"
    MISALIGNED_VALUE = "misaligned_value"
    TRAILING_BLANK = "trailing_blank"
    UPPER_CASE_NAME = "upper_case_name"
    COMMENT_LINE = "comment_line"
    EMPTY_VALUE = "empty_value"
    # what the object says
    WRONG_CLASS = "wrong_class"
    WRONG_FIRST_ATTRIBUTE = "wrong_first_attribute"
    MISSING_ATTRIBUTE = "missing_attribute"
    REPEATED_ATTRIBUTE = "repeated_attribute"
    KEY_MISMATCH = "key_mismatch"
    KEY_CASE = "key_case"
    INVALID_ASN = "invalid_asn"
    INVALID_PREFIX = "invalid_prefix"
    HOST_BITS = "host_bits"
    NON_CANONICAL_PREFIX = "non_canonical_prefix"
    RANGE_MISMATCH = "range_mismatch"
    INVALID_ORIGIN = "invalid_origin"
    REPEATED_ORIGIN = "repeated_origin"
    INVALID_MAX_LENGTH = "invalid_max_length"
    MAX_LENGTH_TOO_SHORT = "max_length_too_short"
    UNKNOWN_SOURCE = "unknown_source"
    UNKNOWN_AUTH_METHOD = "unknown_auth_method"
    COMMENTED_AUTH = "commented_auth"
    INVALID_REFERENCE = "invalid_reference"
    # what the object points at
    DANGLING_REFERENCE = "dangling_reference"


_ERRORS = frozenset(
    {
        ProblemCode.DOT_FILE,
        ProblemCode.WRONG_DEPTH,
        ProblemCode.UNKNOWN_CLASS,
        ProblemCode.ODD_NAME,
        ProblemCode.PATH_TOO_LONG,
        ProblemCode.NOT_A_FILE,
        ProblemCode.FILE_TOO_LARGE,
        ProblemCode.NUL_BYTE,
        ProblemCode.INVALID_UTF8,
        ProblemCode.EMPTY_OBJECT,
        ProblemCode.MERGE_MARKER,
        ProblemCode.WRONG_CLASS,
        ProblemCode.KEY_MISMATCH,
        ProblemCode.INVALID_ASN,
        ProblemCode.INVALID_PREFIX,
        ProblemCode.HOST_BITS,
    }
)
_NOTICES = frozenset(
    {
        ProblemCode.EXECUTABLE,
        ProblemCode.CARRIAGE_RETURN,
        ProblemCode.NO_FINAL_NEWLINE,
        ProblemCode.TAB_SEPARATOR,
        ProblemCode.MISALIGNED_VALUE,
        ProblemCode.TRAILING_BLANK,
        ProblemCode.UPPER_CASE_NAME,
        ProblemCode.COMMENT_LINE,
        ProblemCode.EMPTY_VALUE,
    }
)
SEVERITY_OF: dict[ProblemCode, Severity] = {
    code: Severity.ERROR if code in _ERRORS else Severity.NOTICE if code in _NOTICES else Severity.WARNING
    for code in ProblemCode
}


class Problem(NamedTuple):
    """One thing that is wrong with a file, at a line counted from 1, or with the file as a whole."""

    code: ProblemCode
    line: int | None
    detail: str

    @property
    def severity(self) -> Severity:
        """Fixed for each code."""
        return SEVERITY_OF[self.code]


class FileVersion(NamedTuple):
    """One file of one commit. Without `raw` it was not read, and `problem` says why."""

    path: bytes
    mode: str
    blob: str
    raw: bytes | None
    problem: Problem | None = None


class Attribute(NamedTuple):
    """One `name: value`; the lines of a continued value are joined by line feeds."""

    name: str
    value: str
    line: int


class Prefix(NamedTuple):
    """An address block as a range of packed addresses, so both databases compare it as bytes."""

    family: int
    first: bytes
    last: bytes
    length: int
    #: Canonical text (RFC 5952 for IPv6).
    text: str


class Reference(NamedTuple):
    """An attribute that names another object; `target` is folded, `shown` is as written."""

    attribute: str
    target: str
    shown: str
    line: int


class Route(NamedTuple):
    """One prefix that one ASN may originate."""

    prefix: Prefix
    origin: int
    max_length: int | None


class AuthMethod(NamedTuple):
    """One `auth:` line of a maintainer. `method` is "unknown" where we cannot verify it."""

    method: str
    value: str
    raw: str


class ObjectPath(NamedTuple):
    """Where an object stands: its class and its file name as text."""

    object_class: str
    file_name: str


@dataclass(frozen=True, slots=True)
class RegistryObject:
    """What one file says. An object with an error keeps its key and text, and derives nothing."""

    object_class: str
    key: str
    attributes: tuple[Attribute, ...] = ()
    references: tuple[Reference, ...] = ()
    routes: tuple[Route, ...] = ()
    #: The block of an inetnum or inet6num.
    network: Prefix | None = None
    asn: int | None = None
    problems: tuple[Problem, ...] = field(default=())

    @property
    def indexed(self) -> bool:
        """Whether anything may be derived from it."""
        return not self.problems or all(problem.severity is not Severity.ERROR for problem in self.problems)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Name and value of each attribute, in the order of the file."""
        return [(attribute.name, attribute.value) for attribute in self.attributes]

    def values(self, name: str) -> list[str]:
        """Every value of the attribute, in the order of the file."""
        return [attribute.value for attribute in self.attributes if attribute.name == name]

    def value(self, name: str) -> str | None:
        """The first value of the attribute, or None."""
        return next((attribute.value for attribute in self.attributes if attribute.name == name), None)
