"""Slips of the pen in the text of an object, and where a reader must report them.

Each takes the four lines of a well-written contact (person, nic-hdl, mnt-by, source) and spoils them.
"""

from __future__ import annotations

from collections.abc import Callable

from registry_server.samples.schemas import Planted

Slip = Callable[[bytes], tuple[bytes, tuple[Planted, ...]]]
_PAD = b" " * 11


def _insert(raw: bytes, number: int, *lines: bytes) -> bytes:
    kept = raw.splitlines(keepends=True)
    return b"".join([*kept[: number - 1], *(line + b"\n" for line in lines), *kept[number - 1 :]])


def _replace(raw: bytes, number: int, old: bytes, new: bytes) -> bytes:
    kept = raw.splitlines(keepends=True)
    kept[number - 1] = kept[number - 1].replace(old, new, 1)
    return b"".join(kept)


def _carriage_returns(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return raw.replace(b"\n", b"\r\n"), (Planted("carriage_return", 1),)


def _no_final_newline(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return raw[:-1], (Planted("no_final_newline", 4),)


def _trailing_blank(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return _replace(raw, 3, b"\n", b"  \n"), (Planted("trailing_blank", 3),)


def _tab(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return _replace(raw, 2, b"nic-hdl:            ", b"nic-hdl:\t\t"), (Planted("tab_separator", 2),)


def _misaligned(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return _replace(raw, 2, b"nic-hdl:            ", b"nic-hdl: "), (Planted("misaligned_value", 2),)


def _upper_case(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return _replace(raw, 2, b"nic-hdl", b"Nic-Hdl"), (Planted("upper_case_name", 2),)


def _comment(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return _insert(raw, 3, b"# moved to another rack"), (Planted("comment_line", 3),)


def _empty_value(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return raw + b"remarks:\n", (Planted("empty_value", 5),)


def _no_colon(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return raw + b"forgotten words\n", (Planted("missing_colon", 5),)


def _leading_continuation(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return _insert(raw, 1, b" lost its beginning"), (Planted("leading_continuation", 1),)


def _blank_inside(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return raw + b"remarks: " + _PAD + b"first paragraph\n+\n" + b" " * 20 + b"second paragraph\n", ()


def _indented_members(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    """An indented `members:` continues the text above and is no attribute."""
    return raw + b"remarks: " + _PAD + b"our sets\n    members: AS-NOT-AN-ATTRIBUTE\n", ()


def _markup(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return raw + b"remarks: " + _PAD + b"<script>alert(1)</script> &amp; 100 % legal\n", ()


def _no_break_space(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    added = b"remarks: " + _PAD + "non\u00a0breaking\n".encode()
    return raw + added, (Planted("invisible_character", 5),)


def _bidirectional(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    added = b"remarks: " + _PAD + "reads \u202esdrawkcab\u202c\n".encode()
    return raw + added, (Planted("invisible_character", 5),)


def _nul(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return raw + b"remarks:\x00\x00\n", (Planted("nul_byte", 5),)


def _merge(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    ours, theirs = b"remarks: " + _PAD + b"ours", b"remarks: " + _PAD + b"theirs"
    spoilt = _insert(raw, 3, b"<<<<<<< HEAD", ours, b"=======", theirs, b">>>>>>> topic")
    return spoilt, tuple(Planted("merge_marker", line) for line in (3, 5, 7))


def _latin1(raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return raw + b"remarks: " + _PAD + "Zürich\n".encode("latin-1"), (Planted("invalid_utf8", 5),)


def _empty(_raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return b"", (Planted("empty_object", None),)


def _blank(_raw: bytes) -> tuple[bytes, tuple[Planted, ...]]:
    return b"\n", (Planted("empty_object", None),)


#: Each with how many there are in 20,000 objects.
SLIPS: tuple[tuple[Slip, int], ...] = (
    (_carriage_returns, 20),
    (_no_final_newline, 20),
    (_trailing_blank, 174),
    (_tab, 20),
    (_misaligned, 33),
    (_upper_case, 8),
    (_comment, 6),
    (_empty_value, 131),
    (_no_colon, 10),
    (_leading_continuation, 8),
    (_blank_inside, 5),
    (_indented_members, 3),
    (_markup, 3),
    (_no_break_space, 4),
    (_bidirectional, 2),
    (_nul, 1),
    (_merge, 1),
    (_latin1, 1),
    (_empty, 3),
    (_blank, 2),
)
