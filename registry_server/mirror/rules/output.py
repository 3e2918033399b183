"""What git prints, taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from registry_server.history.schemas import FileChange, LoggedCommit
from registry_server.mirror.schemas import RemoteTip, TreeDifference, TreeEntry

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


def parse_sizes(output: bytes) -> dict[str, int]:
    """`cat-file --batch-check`: object, type and size a line; what is missing or no blob is left out."""
    sizes = {}
    for line in output.decode().splitlines():
        parts = line.split(" ")
        if len(parts) == 3 and parts[1] == "blob":  # noqa: PLR2004 - object, type, size
            sizes[parts[0]] = int(parts[2])
    return sizes


def parse_blobs(output: bytes) -> Iterator[tuple[str, bytes]]:
    """`cat-file --batch`: object, type and size, then so many bytes and a line feed."""
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        blob, _, size = output[position:end].decode().split(" ")
        start = end + 1
        position = start + int(size) + 1
        yield blob, output[start : position - 1]


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
LOG_FORMAT = "%x02%H%x1f%P%x1f%at%x1f%an%x1f%s"
#: The end of the year 9999.
_LAST_SECOND = 253_402_300_799
_COMMIT, _FIELD, _NO_BLOB = b"\x02", b"\x1f", b"0" * 40


def parse_log(output: bytes) -> list[LoggedCommit]:
    """`log --raw -z` in LOG_FORMAT: a record for each commit, then two for each file that it changed."""
    commits: list[LoggedCommit] = []
    records = iter(output.split(b"\0"))
    for record in records:
        if record.startswith(_COMMIT):
            commits.append(_logged(record[1:]))
        elif record:
            _, _, before, after, _ = record.lstrip(b"\n:").split(b" ")
            path = next(records)
            if path.startswith(b"data/"):
                commits[-1].changes.append(FileChange(path, _blob(before), _blob(after)))
    return commits


def _logged(record: bytes) -> LoggedCommit:
    commit, parents, at, author, summary = record.split(_FIELD, 4)
    return LoggedCommit(
        commit=commit.decode(),
        parent=parents.decode().split(" ", 1)[0] or None,
        authored=bounded(int(at or b"0")),
        author=author.decode(errors="replace"),
        summary=summary.decode(errors="replace"),
        changes=[],
    )


def bounded(seconds: int) -> int:
    """An instant that a calendar has: anybody can write any date into a commit."""
    return min(max(seconds, 0), _LAST_SECOND)


def _blob(name: bytes) -> str | None:
    return None if name == _NO_BLOB else name.decode()


def redact(text: str) -> str:
    """A message of git without the credentials of any URL in it."""
    return _CREDENTIALS.sub("***@", text)
