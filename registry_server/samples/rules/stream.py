"""A history as a stream for `git fast-import`; the same history gives the same commit ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from registry_server.samples.schemas import Change, Commit

BRANCH = b"refs/heads/master"
#: Side commits are made here; the reference is removed when all is written.
SIDE_BRANCH = b"refs/side/work"
_START = 1_700_000_000
_STEP = 3600
#: Commit dates of a real registry do not rise: whoever sorts by them gets the history wrong.
_BACKWARD = 2 * _STEP
_PERSON = b"Registry Example <registry@routeloom.example>"


def stream(commits: Iterable[Commit]) -> Iterator[bytes]:
    """Bytes for the standard input of `git fast-import --done`."""
    mark = 0
    for number, commit in enumerate(commits):
        parent = mark
        date = _START + number * _STEP - (_BACKWARD if number % 3 == 1 else 0)
        merged = 0
        if commit.side and parent:
            mark += 1
            merged = mark
            yield _head(SIDE_BRANCH, mark, date, commit.message, (parent, 0))
            yield from _changes(commit.changes)
        mark += 1
        message = f"Merge: {commit.message}" if merged else commit.message
        yield _head(BRANCH, mark, date, message, (parent, merged))
        yield from _changes(commit.changes)
    yield b"done\n"


def _head(reference: bytes, mark: int, date: int, message: str, parents: tuple[int, int]) -> bytes:
    text = message.encode()
    parent, merged = parents
    lines = [b"commit %s" % reference, b"mark :%d" % mark, b"committer %s %d +0000" % (_PERSON, date)]
    lines += [b"data %d" % len(text), text]
    lines += [b"from :%d" % parent] if parent else []
    lines += [b"merge :%d" % merged] if merged else []
    return b"\n".join(lines) + b"\n"


def _changes(changes: Iterable[Change]) -> Iterator[bytes]:
    for path, raw in changes:
        quoted = b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
        if raw is None:
            yield b"D %s\n" % quoted
        else:
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (quoted, len(raw), raw)
