"""The state directory of Lite: where each file is, private from the first byte."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from routeloom.lite.errors import HomeNotOurs, HomeNotWritable
from shared.kernel.files import make_private_directory


def default_home() -> Path:
    """`ROUTELOOM_HOME`, else `routeloom` in the user's own state directory."""
    given = os.environ.get("ROUTELOOM_HOME")
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser().absolute() / "routeloom"


@dataclass(frozen=True, slots=True)
class Home:
    """Paths under one state directory."""

    root: Path

    def prepare(self) -> None:
        """Create the directories (0700). Raises HomeNotWritable or HomeNotOurs with the reason."""
        if not self._ours():
            raise HomeNotOurs(
                f"{self.root} holds other things; choose an empty or new directory with --home or"
                " ROUTELOOM_HOME"
            )
        try:
            for directory in (self.root, self.secrets, self.agent):
                make_private_directory(directory)
            probe = self.root / f".writable.{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise HomeNotWritable(
                f"{self.root} cannot be written ({error.strerror});"
                " choose another place with --home or ROUTELOOM_HOME"
            ) from None

    def _ours(self) -> bool:
        """Whether nothing is there, or what an earlier start left."""
        try:
            return self.lock.exists() or not any(self.root.iterdir())
        except NotADirectoryError:
            return False
        except OSError:
            return True

    @property
    def lock(self) -> Path:
        """Held for as long as Lite runs."""
        return self.root / "lite.lock"

    @property
    def secrets(self) -> Path:
        """Generated secrets."""
        return self.root / "secrets"

    @property
    def agent(self) -> Path:
        """State of the local agent."""
        return self.root / "agent"

    @property
    def admin_token(self) -> Path:
        """Token of the service principal `local-admin`."""
        return self.root / "admin-token"

    @property
    def address(self) -> Path:
        """The public address of the running or last Lite, for the command line."""
        return self.root / "address"

    @property
    def upstream(self) -> Path:
        """Which registry the running or last Lite mirrors, for the command line; may hold a password."""
        return self.root / "upstream"

    @property
    def sign_ins(self) -> Path:
        """Tokens of `routeloom login`, by server."""
        return self.root / "signed-in.json"

    @property
    def sample_registry(self) -> Path:
        """The generated registry that Lite mirrors."""
        return self.root / "registry-sample"

    def database(self, service: str) -> str:
        """URL of the SQLite file of a service."""
        return f"sqlite:///{self.root / f'{service}.db'}"
