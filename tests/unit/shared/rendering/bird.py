"""A rendered bundle on disk, and what the installed BIRD says of it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from shared.rendering.bird import Surroundings
from shared.rendering.versions import BirdVersion

BIRD = "/usr/sbin/bird"


@cache
def installed_version() -> BirdVersion:
    """The version of Debian's bird2 on this host."""
    said = subprocess.run([BIRD, "--version"], capture_output=True, text=True, check=True)
    return BirdVersion.parse(re.sub(r"\s+", " ", said.stdout + said.stderr))


def surroundings(directory: Path, version: BirdVersion | None = None) -> Surroundings:
    """A node whose operators' own directory is there and empty."""
    local = directory / "local"
    local.mkdir(exist_ok=True)
    return Surroundings(version or installed_version(), local_directory=str(local))


def complaint(directory: Path, files: Mapping[str, str]) -> str:
    """What `bird -p` says of the files; nothing where they are accepted."""
    for path, text in files.items():
        place = directory / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    (directory / "peers").mkdir(exist_ok=True)
    said = subprocess.run(
        [BIRD, "-p", "-c", str(directory / "main.conf")], capture_output=True, text=True, check=False
    )
    return (said.stdout + said.stderr).strip() if said.returncode or said.stderr else ""
