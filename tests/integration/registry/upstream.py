"""A git repository that stands for the registry's own, written commit by commit."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BRANCH = "refs/heads/master"


@dataclass(frozen=True, slots=True)
class Special:
    """What git can hold that is no plain file: a symbolic link (120000), a nested repository (160000)."""

    mode: str
    text: bytes = b""


Content = bytes | Special | None


@dataclass(frozen=True, slots=True)
class Upstream:
    """A bare repository."""

    directory: Path

    @classmethod
    def create(cls, directory: Path) -> Upstream:
        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=master", directory], check=True)
        return cls(directory)

    def commit(
        self, files: Mapping[str | bytes, Content], *, parent: str | None = "tip", branch: str = BRANCH
    ) -> str:
        """Add a commit with these files changed (None removes one); with no parent a new history."""
        tip = self.git("rev-parse", "--verify", "--quiet", branch, check=False).strip()
        above = tip if parent == "tip" else parent
        stream = [
            f"commit {branch}\ncommitter Foo <foo@foo.example> 1700000000 +0000\ndata 4\ntest\n".encode()
        ]
        stream += [f"from {above}\n".encode()] if above else ([b"deleteall\n"] if tip else [])
        stream += [
            _change(path.encode() if isinstance(path, str) else path, text) for path, text in files.items()
        ]
        if tip and not above:
            stream.insert(0, f"reset {branch}\n".encode())
        self._import(b"".join([*stream, b"done\n"]))
        return self.git("rev-parse", branch).strip()

    def blobs(self, commit: str = BRANCH) -> dict[str, bytes]:
        """Every file's path and text, as git itself gives them one by one."""
        listed = self.git("ls-tree", "-r", "-z", "--format=%(objectname) %(path)", commit).split("\0")
        pairs = [line.split(" ", 1) for line in listed if line]
        printed = self._run("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob, _ in pairs).encode())
        texts, position = {}, 0
        for _, path in pairs:
            head, _, _ = printed[position:].partition(b"\n")
            start = position + len(head) + 1
            position = start + int(head.split()[2]) + 1
            texts[path] = printed[start : position - 1]
        return texts

    def git(self, *arguments: str, check: bool = True) -> str:
        return self._run(*arguments, check=check).decode()

    def _import(self, stream: bytes) -> None:
        self._run("fast-import", "--quiet", "--force", "--done", stdin=stream)

    def _run(self, *arguments: str, stdin: bytes = b"", check: bool = True) -> bytes:
        command = ["git", "-C", str(self.directory), *arguments]
        return subprocess.run(command, input=stdin, check=check, stdout=subprocess.PIPE).stdout


def _change(path: bytes, content: Content) -> bytes:
    quoted = b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
    if content is None:
        return b"D %s\n" % quoted
    mode, text = (
        (content.mode.encode(), content.text) if isinstance(content, Special) else (b"100644", content)
    )
    if mode == b"160000":
        return b"M %s %s %s\n" % (mode, b"1" * 40, quoted)
    return b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted, len(text), text)
