"""What git prints, taken apart."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from registry_server.history.schemas import FileChange, LoggedCommit
from registry_server.mirror.schemas import Blob, RemoteTip, TreeDifference, TreeEntry

#: Regular files; the rest are symbolic links and commits of other repositories.
FILE_MODES = frozenset({"100644", "100755", "100664"})
_SYMREF = "ref: "
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def parse_tree(output: bytes) -> list[TreeEntry]:
    """`ls-tree -r -z`: mode, type, object, tab, path."""
    entries = []
    for record in output.split(b"\0"):
        if record:
            head, _, path = record.partition(b"\t")
            mode, _, blob = head.decode().split(" ")
            entries.append(TreeEntry(path, mode, blob))
    return entries


def parse_difference(output: bytes) -> TreeDifference:
    """`diff-tree -r -z --raw --no-renames`: colon, two modes, two objects, status; then the path."""
    fields = iter(output.split(b"\0"))
    removed: list[bytes] = []
    changed: list[TreeEntry] = []
    for head in fields:
        if not head:
            continue
        _, mode, _, blob, status = head.decode().lstrip(":").split(" ")
        path = next(fields)
        if status == "D":
            removed.append(path)
        else:
            changed.append(TreeEntry(path, mode, blob))
    return TreeDifference(removed, changed)


class BlobReader:
    """`cat-file --batch` while it is printed: object, type and size, then so many bytes and a line feed.

    Of a larger text than `most_bytes` only the size is told, and it never stands in memory.
    """

    def __init__(self, most_bytes: int) -> None:
        """Expect the first object."""
        self._most_bytes = most_bytes
        self._held = b""
        self._skipped = 0

    def feed(self, piece: bytes) -> list[Blob]:
        """Take what was printed next; every object that is complete with it, in order."""
        skipped = min(self._skipped, len(piece))
        self._skipped -= skipped
        held = self._held + piece[skipped:]
        found: list[Blob] = []
        position, most = 0, self._most_bytes
        while (end := held.find(b"\n", position)) >= 0:
            size = _size_of(held[position:end])
            after = end + 1 if size is None else end + size + 2
            if size is None or size > most:
                found.append((size, None))
            elif after <= len(held):
                found.append((size, held[end + 1 : after - 1]))
            else:
                break
            position = after
        self._skipped += max(position - len(held), 0)
        self._held = held[position:]
        return found


def _size_of(head: bytes) -> int | None:
    """None for what is missing or no blob."""
    _, kind, size = head.rpartition(b" blob ")
    return int(size) if kind else None


def parse_remote(output: bytes, branch: str | None) -> RemoteTip | None:
    """`ls-remote --symref`: the branch asked for, or the one that HEAD points at."""
    commits: dict[str, str] = {}
    for line in output.decode(errors="replace").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith(_SYMREF) and name == "HEAD":
            branch = branch or value.removeprefix(_SYMREF).removeprefix("refs/heads/")
        else:
            commits[name] = value
    commit = commits.get(f"refs/heads/{branch}")
    return RemoteTip(branch, commit) if branch and commit else None


#: Fields of a commit, in one record; `parse_log` reads it.
LOG_FORMAT = "%x02%H%x1f%P%x1f%at%x1f%ct%x1f%an%x1f%s"
#: The end of the year 9999.
_LAST_SECOND = 253_402_300_799
_COMMIT, _FIELD, _NO_BLOB = b"\x02", b"\x1f", "0" * 40


def parse_log(output: bytes) -> list[LoggedCommit]:
    """`log --raw -z` in LOG_FORMAT: a record for each commit, then two for each file that it changed."""
    commits: list[LoggedCommit] = []
    changes: list[FileChange] = []
    records = iter(output.split(b"\0"))
    for record in records:
        if record.startswith(_COMMIT):
            commits.append(_logged(record[1:]))
            changes = commits[-1].changes
        elif record:
            path = next(records)
            if path.startswith(b"data/"):
                _, _, before, after, _ = record.decode().split(" ")
                old = None if before == _NO_BLOB else before
                changes.append((path, old, None if after == _NO_BLOB else after))
    return commits


def _logged(record: bytes) -> LoggedCommit:
    commit, parents, authored, committed, author, summary = record.split(_FIELD, 5)
    return LoggedCommit(
        commit=commit.decode(),
        parent=parents.decode().split(" ", 1)[0] or None,
        authored=bounded(int(authored or b"0")),
        author=author.decode(errors="replace"),
        summary=summary.decode(errors="replace"),
        changes=[],
        committed=bounded(int(committed or b"0")),
    )


def bounded(seconds: int) -> int:
    """An instant that a calendar has: anybody can write any date into a commit."""
    return min(max(seconds, 0), _LAST_SECOND)


def instant(seconds: int) -> datetime:
    """Of a commit's date."""
    return datetime.fromtimestamp(bounded(seconds), UTC)


def redact(text: str) -> str:
    """A message of git without the credentials of any URL in it."""
    return _CREDENTIALS.sub("***@", text)
