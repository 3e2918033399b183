"""Generations on disk: written whole under their own name, never edited, and switched to in one step."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from node_agent.apply.errors import FilesNotWritten
from shared.rendering.bundle import MAIN, Bundle

_KEPT = 5
_DIRECTORY_MODE = 0o750
_FILE_MODE = 0o640


@dataclass(frozen=True, slots=True)
class ConfigurationPlaces:
    """Where BIRD's configuration lives on this host."""

    #: Holds `gen/`, one directory a generation, and the link `current` to what is good.
    root: Path
    #: The operators' own files, included last and never touched.
    local: Path
    #: Group that may read the files, so that the daemon can; None is the agent's own.
    group: int | None = None

    @property
    def generations(self) -> Path:
        """One directory a generation."""
        return self.root / "gen"

    @property
    def current(self) -> Path:
        """The link that the boot configuration includes."""
        return self.root / "current"

    def main_of(self, identity: str) -> Path:
        """The file that BIRD is told to read for a generation."""
        return self.generations / identity / MAIN

    def prepare(self) -> None:
        """Make the directories. Raises FilesNotWritten."""
        with _telling(self.root):
            for directory in (self.root, self.generations, self.local):
                directory.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
                self._own(directory)

    def current_identity(self) -> str | None:
        """Which generation `current` points to."""
        with suppress(OSError):
            return self.current.readlink().name
        return None

    def write(self, bundle: Bundle) -> Path:
        """Put the generation on disk unless it is there; answers its main file. Raises FilesNotWritten.

        What was staged for a pass that came to nothing may name local files that have changed since, or be
        harmed: it gives way. Ask for what does not run yet.
        """
        target = self.generations / bundle.identity
        with _telling(target):
            if not _holds(target, bundle):
                self._write(bundle, target)
        return target / MAIN

    def make_current(self, identity: str) -> None:
        """From now on BIRD boots with this generation; older ones beyond a few go. Raises FilesNotWritten."""
        with _telling(self.current):
            temporary = self.root / f".current.{os.getpid()}"
            temporary.unlink(missing_ok=True)
            temporary.symlink_to(Path("gen") / identity)
            temporary.replace(self.current)
            _sync(self.root)
        self._prune(identity)

    def local_digest(self) -> str:
        """Digest of the operators' own files, by name and bytes."""
        whole = hashlib.sha256()
        for path in sorted(self.local.glob("*.conf")):
            with suppress(OSError):
                # A pipe or a device would never end.
                if path.is_file():
                    whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
        return whole.hexdigest()[:12]

    def _write(self, bundle: Bundle, target: Path) -> None:
        staged = Path(tempfile.mkdtemp(prefix=".staged-", dir=self.generations))
        try:
            (staged / "peers").mkdir()
            for name, text in bundle.files.items():
                _write_synced(staged / name, text)
            for path in (staged, *staged.rglob("*")):
                path.chmod(_DIRECTORY_MODE if path.is_dir() else _FILE_MODE)
                self._own(path)
            _sync(staged)
            if target.exists():
                target.rename(staged.with_name(f"{staged.name}.old"))
            staged.rename(target)
            _sync(self.generations)
        finally:
            for left in self.generations.glob(f"{staged.name}*"):
                shutil.rmtree(left, ignore_errors=True)

    def _own(self, path: Path) -> None:
        if self.group is not None:
            os.chown(path, -1, self.group)

    def _prune(self, current: str) -> None:
        with suppress(OSError):
            found = [path for path in self.generations.iterdir() if path.is_dir()]
            found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
            for path in found[_KEPT:]:
                if path.name != current:
                    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _telling(place: Path) -> Iterator[None]:
    """Turn an error of the file system into one that names the place."""
    try:
        yield
    except OSError as error:
        detail = f"{place} cannot be written: {error.strerror or error}."
        raise FilesNotWritten(detail) from error


def _holds(target: Path, bundle: Bundle) -> bool:
    """Whether the directory has all files of the bundle, byte for byte."""
    try:
        return all((target / name).read_bytes() == text.encode() for name, text in bundle.files.items())
    except FileNotFoundError:
        return False


def _write_synced(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
