"""The bare repository that follows upstream: a copy, so whatever is wrong with it, it is fetched anew."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from registry_server.history.schemas import LoggedCommit
from registry_server.mirror.errors import MirrorNotConfigured, RepositoryBroken, UpstreamUnavailable
from registry_server.mirror.rules import output
from registry_server.mirror.schemas import (
    MirrorSettings,
    RemoteTip,
    TreeDifference,
    TreeEntry,
)
from registry_server.mirror.store.process import Git, GitFailed
from registry_server.mirror.store.reading import TextReading
from registry_server.objects.schemas import FileVersion

#: All else of a repository says nothing of the registry.
DATA = "data/"
_LITTLE_BYTES = 65_536
_COMMIT = re.compile("[0-9a-f]{40}", re.ASCII)
_HEAD = re.compile(rb"ref: refs/|[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class BareRepository:
    """Reads upstream and what was fetched from it."""

    git: Git
    settings: MirrorSettings

    @property
    def url(self) -> str:
        """Where upstream is."""
        if self.settings.url is None:
            raise MirrorNotConfigured
        return self.settings.url.get_secret_value()

    async def prepare(self) -> None:
        """Make sure that there is a repository; one that git does not recognise is replaced."""
        if not await asyncio.to_thread(self._is_there):
            await self.discard()
            self.git.directory.mkdir(parents=True)
            await self.git.run("init", "--quiet", "--bare")

    def _is_there(self) -> bool:
        """What git itself asks of a directory; to ask git takes a process."""
        directory = self.git.directory
        try:
            head = (directory / "HEAD").read_bytes()
        except OSError:
            return False
        return bool(_HEAD.match(head)) and (directory / "objects").is_dir() and (directory / "refs").is_dir()

    async def head(self, branch: str) -> str | None:
        """The commit that the branch points at here, or None where there is no such branch."""
        found = await asyncio.to_thread(self._loose_head, branch)
        if found is not None:
            return found
        try:
            return (await self.git.run("rev-parse", "--verify", f"refs/heads/{branch}")).decode().strip()
        except GitFailed:
            return None

    def _loose_head(self, branch: str) -> str | None:
        """As a fetch leaves it; where git keeps it elsewhere, git knows."""
        try:
            found = (self.git.directory / "refs" / "heads" / branch).read_text().strip()
        except (OSError, ValueError):
            return None
        return found if _COMMIT.fullmatch(found) else None

    async def discard(self) -> None:
        """Forget the copy."""
        await asyncio.to_thread(shutil.rmtree, self.git.directory, ignore_errors=True)

    async def ask(self) -> RemoteTip:
        """The branch and commit that upstream has now, without fetching."""
        wanted = [f"refs/heads/{self.settings.branch}"] if self.settings.branch else ["HEAD", "refs/heads/*"]
        try:
            printed = await self.git.run("ls-remote", "--symref", "--", self.url, *wanted)
        except GitFailed as failed:
            raise UpstreamUnavailable(
                f"The registry's repository does not answer: {failed.message}"
            ) from failed
        tip = output.parse_remote(printed, self.settings.branch)
        if tip is None:
            raise UpstreamUnavailable("The registry's repository has no such branch.")
        return tip

    async def fetch(self) -> None:
        """Take over every branch, also one that was pushed by force, and forget those that are gone."""
        options = ("--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
        try:
            await self.git.run("fetch", *options, "--", self.url, "+refs/heads/*:refs/heads/*")
        except GitFailed as failed:
            if not await self._is_sound():
                raise RepositoryBroken("The mirrored repository is damaged; it is fetched anew.") from failed
            raise UpstreamUnavailable(f"The registry cannot be fetched: {failed.message}") from failed

    async def _is_sound(self) -> bool:
        """Whether all that the branches lead to is there."""
        try:
            await self.git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        except GitFailed:
            return False
        return True

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether the newer commit builds on the older one; False also where we do not have the older one."""
        try:
            await self.git.run("merge-base", "--is-ancestor", older, newer)
        except GitFailed:
            return False
        return True

    async def committed_at(self, commit: str) -> datetime:
        """The commit's own date."""
        shown = ("--no-walk", "--no-notes", "--no-patch", "--format=%ct")
        return output.instant(int(await self._read("log", *shown, commit, "--")))

    async def tree(self, commit: str) -> list[TreeEntry]:
        """Every file of the commit that may be the registry's."""
        options = ("-r", "-z", "--full-tree", "--end-of-options")
        printed = await self._read("ls-tree", *options, commit, "--", DATA)
        return await asyncio.to_thread(output.parse_tree, printed)

    async def difference(self, older: str, newer: str) -> TreeDifference:
        """Which of those files changed between two commits, whatever lies between them."""
        options = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev")
        return output.parse_difference(await self._read("diff-tree", *options, older, newer, "--", DATA))

    async def log(self, base: str | None, commit: str) -> list[LoggedCommit] | None:
        """The commits of the main line after `base`, oldest first; None where `base` is not on that line."""
        span = commit if base is None else f"{base}..{commit}"
        order = ("--first-parent", "--reverse", "--diff-merges=first-parent", "--root")
        shown = ("--raw", "-z", "--no-renames", "--no-abbrev", "--no-notes", f"--format={output.LOG_FORMAT}")
        try:
            printed = await self._read("log", *order, *shown, span, "--")
        except RepositoryBroken:
            if base is None:
                raise
            return None
        # Of a whole line a computation of its own, off the event loop.
        few = len(printed) < _LITTLE_BYTES
        commits = output.parse_log(printed) if few else await asyncio.to_thread(output.parse_log, printed)
        if base is not None and (not commits or commits[0].parent != base):
            return None
        return commits

    async def text(self, blob: str) -> bytes | None:
        """The text of any time, or None where it is not at hand, or too large to be shown."""
        try:
            if self.settings.file_bytes < int(await self.git.run("cat-file", "-s", blob)):
                return None
            return await self.git.run("cat-file", "blob", blob)
        except (GitFailed, UpstreamUnavailable, RepositoryBroken):
            return None

    async def read(self, entries: Sequence[TreeEntry]) -> AsyncGenerator[list[FileVersion], None]:
        """The text of the files, some at a time; what is no file or too large is named, not read."""
        async with self.reading() as reading, aclosing(reading.read(entries)) as chunks:
            async for some in chunks:
                yield some

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[TextReading]:
        """Git that reads texts, begun before it is known which: that takes as long as to read some."""
        names = asyncio.get_running_loop().create_future()
        try:
            async with self.git.printing("cat-file", "--batch", "--buffer", stdin=names) as printing:
                yield TextReading(printing, names, self.settings)
                if not names.done():
                    names.set_result(b"")
        except GitFailed as failed:
            raise RepositoryBroken(f"The mirrored repository cannot be read: {failed.message}") from failed

    async def _read(self, *arguments: str) -> bytes:
        try:
            return await self.git.run(*arguments)
        except GitFailed as failed:
            raise RepositoryBroken(f"The mirrored repository cannot be read: {failed.message}") from failed


async def read_checkout(directory: Path, revision: str, settings: MirrorSettings) -> list[FileVersion]:
    """Every file under `data/` of a repository on this host, bare or with a work tree."""
    inner = directory / ".git"
    git = Git((inner if inner.exists() else directory).resolve(), settings.time_limit)
    repository = BareRepository(git, settings)
    entries = await repository.tree(revision)
    return [file async for some in repository.read(entries) for file in some]
