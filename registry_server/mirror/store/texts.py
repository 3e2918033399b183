"""From what `cat-file --batch` prints to the files of a registry: computation, for a thread of its own."""

from __future__ import annotations

from collections.abc import Sequence

from registry_server.mirror.errors import RepositoryBroken
from registry_server.mirror.rules.output import BlobReader
from registry_server.mirror.schemas import Blob, MirrorSettings, TreeEntry
from registry_server.mirror.store.printing import Read
from registry_server.objects.schemas import FileVersion, Problem, ProblemCode

#: Files that are parsed and stored together.
_BATCH = 2000
_BATCH_BYTES = 8 << 20


class BlobTexts:
    """The files in the order in which their texts were asked for."""

    def __init__(self, entries: Sequence[TreeEntry], settings: MirrorSettings) -> None:
        """Expect the text of the first one."""
        self._entries = entries
        self._settings = settings
        self._reader = BlobReader(settings.file_bytes)
        self._read: list[Blob] = []
        self._taken = 0
        self._bytes = 0

    @property
    def missing(self) -> bool:
        """Whether git ended before the last one."""
        return self._taken < len(self._entries)

    def read_some(self, read: Read) -> list[FileVersion]:
        """The next files, none at the end. Raises RepositoryBroken."""
        room = _BATCH_BYTES
        while len(self._read) < _BATCH and room > 0 and (piece := read()):
            blobs = self._reader.feed(piece)
            self._read.extend(blobs)
            # Of a text that is too large nothing is kept.
            room -= len(piece) if blobs else 0
        entries = self._entries[self._taken : self._taken + min(_BATCH, len(self._read))]
        count = len(entries)
        blobs, self._read = self._read[:count], self._read[count:]
        self._taken += count
        found = [
            self._unread(path, mode, name, size) if text is None else FileVersion(path, mode, name, text)
            for (path, mode, name), (size, text) in zip(entries, blobs, strict=True)
        ]
        self._bytes += sum(len(text) for _, text in blobs if text is not None)
        if self._bytes > self._settings.total_bytes:
            raise RepositoryBroken(f"The registry is larger than {self._settings.total_bytes} bytes.")
        return found

    def _unread(self, path: bytes, mode: str, name: str, size: int | None) -> FileVersion:
        if size is None:
            raise RepositoryBroken(f"The mirrored repository has lost the object {name}.")
        detail = f"{size} bytes are more than {self._settings.file_bytes}"
        return FileVersion(path, mode, name, None, Problem(ProblemCode.FILE_TOO_LARGE, None, detail))
