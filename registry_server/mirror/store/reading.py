"""One reading of files from the mirrored repository, by a git that has begun already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from registry_server.mirror.errors import RepositoryBroken
from registry_server.mirror.rules import output
from registry_server.mirror.schemas import MirrorSettings, TreeEntry
from registry_server.mirror.store.printing import Printing
from registry_server.mirror.store.process import GitFailed
from registry_server.mirror.store.texts import BlobTexts
from registry_server.objects.schemas import FileVersion, Problem, ProblemCode


@dataclass(frozen=True, slots=True)
class TextReading:
    """`git cat-file --batch`, which waits for the names of what it shall print."""

    printing: Printing
    names: asyncio.Future[bytes]
    settings: MirrorSettings

    async def read(self, entries: Sequence[TreeEntry]) -> AsyncGenerator[list[FileVersion], None]:
        """The text of the files, once and some at a time; what is no file or too large is named, not read.

        Raises RepositoryBroken.
        """
        others = [_no_file(entry) for entry in entries if entry.mode not in output.FILE_MODES]
        if others:
            yield others
        files = [entry for entry in entries if entry.mode in output.FILE_MODES] if others else entries
        if not files:
            return
        # One process of git for all, however many; nothing is asked twice.
        self.names.set_result("".join([f"{entry.blob}\n" for entry in files]).encode())
        texts = BlobTexts(files, self.settings)
        try:
            while some := await self.printing.take(texts.read_some):
                yield some
            await self.printing.finish()
        except TimeoutError:
            raise _broken(f"git cat-file took longer than {self.settings.time_limit}") from None
        except GitFailed as failed:
            raise _broken(failed.message) from failed
        if texts.missing:
            raise RepositoryBroken("The mirrored repository ended before the last object.")


def _broken(message: str) -> RepositoryBroken:
    return RepositoryBroken(f"The mirrored repository cannot be read: {message}")


def _no_file(entry: TreeEntry) -> FileVersion:
    problem = Problem(ProblemCode.NOT_A_FILE, None, "links and nested repositories are not followed")
    return FileVersion(*entry, None, problem)
