"""gpg, in a home of its own that is gone afterwards, without a network, and never for long."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from auth_server.ownership.errors import (
    CheckTimedOut,
    PgpUnavailable,
    PrivateKeyPasted,
    PublicKeyMalformed,
)
from auth_server.ownership.rules.pasted import Form
from auth_server.ownership.rules.pgp import ListedKey, PgpReport

#: No keyserver, no agent, no trust of its own; who may sign is decided by fingerprint.
_OPTIONS = (
    "--no-options",
    "--disable-dirmngr",
    "--no-auto-key-retrieve",
    "--auto-key-locate=clear,local",
    "--no-autostart",
    "--trust-model=always",
    "--no-auto-check-trustdb",
    "--max-output=65536",
)
_STATUS = "[GNUPG:] "


@dataclass(frozen=True, slots=True)
class PgpEvidence:
    """What gpg made of what was pasted."""

    report: PgpReport
    #: The primary fingerprint of each key certificate, by its name in the registry.
    certified: dict[str, str]


@dataclass(frozen=True, slots=True)
class GnuPG:
    """Checks one signature at a time; every method blocks, so it is called in a thread."""

    patience: timedelta = timedelta(seconds=5)
    program: str = "gpg"

    def check(
        self, signed: tuple[Form, str], forms: Sequence[bytes], certificates: Mapping[str, str], key: str
    ) -> PgpEvidence:
        """What gpg says of a signature over one of the forms, by a certificate's key or the pasted one.

        Raises PgpUnavailable, CheckTimedOut, PrivateKeyPasted or PublicKeyMalformed.
        """
        if which(self.program) is None:
            raise PgpUnavailable
        with TemporaryDirectory(prefix="routeloom-gpg-") as home, self._opened(Path(home)) as run:
            certified = run.certified(certificates)
            if key:
                run.take_in(key)
            return PgpEvidence(run.verify(signed, forms), certified)

    @contextmanager
    def _opened(self, home: Path) -> Iterator[_Run]:
        import gnupg  # type: ignore[import-untyped]  # noqa: PLC0415 - only who proves something pays for it

        class Timed(gnupg.GPG):  # type: ignore[misc]
            """Ends each gpg that takes too long; the library itself would wait for ever."""

            def _open_subprocess(self, args: list[str], passphrase: bool = False) -> Any:  # noqa: FBT002
                process = super()._open_subprocess(args, passphrase)
                run.watch(process)
                return process

        run = _Run(home, self.patience)
        try:
            run.gpg = Timed(
                gpgbinary=self.program,
                gnupghome=str(home),
                options=list(_OPTIONS),
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"},
            )
            yield run
        except (OSError, ValueError) as error:
            # A gpg that was killed leaves the library's own errors behind, or a pipe that is broken.
            raise (CheckTimedOut if run.timed_out else PgpUnavailable) from error
        finally:
            run.stop_watching()


@dataclass(slots=True)
class _Run:
    """One home and the gpg processes over it."""

    home: Path
    patience: timedelta
    gpg: Any = None
    timed_out: bool = False
    _timers: list[threading.Timer] = field(default_factory=list)

    def watch(self, process: Any) -> None:
        """Kill it when it takes too long."""

        def end() -> None:
            if process.poll() is None:
                self.timed_out = True
                process.kill()

        timer = threading.Timer(self.patience.total_seconds(), end)
        timer.daemon = True
        timer.start()
        self._timers.append(timer)

    def stop_watching(self) -> None:
        """Nothing is left to be killed."""
        for timer in self._timers:
            timer.cancel()

    def certified(self, certificates: Mapping[str, str]) -> dict[str, str]:
        """Take in the registry's key certificates; the fingerprint of each that holds one key."""
        found: dict[str, str] = {}
        for name, armour in certificates.items():
            known = self._primaries()
            self.gpg.import_keys(armour)
            fresh = self._primaries() - known
            if len(fresh) == 1:
                found[name] = fresh.pop()
        return found

    def take_in(self, key: str) -> None:
        """The key that the person pasted. Raises PrivateKeyPasted or PublicKeyMalformed."""
        result = self.gpg.import_keys(key)
        if int(getattr(result, "sec_read", 0) or 0):
            raise PrivateKeyPasted
        if not self.timed_out and int(getattr(result, "count", 0) or 0) != 1:
            raise PublicKeyMalformed

    def verify(self, signed: tuple[Form, str], forms: Sequence[bytes]) -> PgpReport:
        """What gpg says; of a detached signature, about the form that it is a signature of."""
        form, block = signed
        if form is Form.PGP_CLEAR:
            result = self.gpg.decrypt(block)
            return self._report(result, bytes(result.data))
        path = self.home / "signature.asc"
        path.write_text(block, encoding="ascii")
        reports = []
        for text in forms:
            report = self._report(self.gpg.verify_data(str(path), text), text)
            if report.valid:
                return report
            reports.append(report)
        return reports[0]

    def _report(self, result: Any, verified: bytes) -> PgpReport:
        lines = [line for line in str(result.stderr).splitlines() if line.startswith(_STATUS)]
        pairs = [line.removeprefix(_STATUS).partition(" ") for line in lines]
        return PgpReport(
            statuses=tuple((keyword, value) for keyword, _, value in pairs),
            valid=result.valid is True,
            verified=verified,
            keys=tuple(self._keys()),
            timed_out=self.timed_out,
        )

    def _primaries(self) -> set[str]:
        return {str(key["fingerprint"]) for key in self.gpg.list_keys()}

    def _keys(self) -> Iterator[ListedKey]:
        for primary in self.gpg.list_keys():
            yield _listed(primary, primary["fingerprint"])
            for subkey in primary.get("subkey_info", {}).values():
                yield _listed(subkey, primary["fingerprint"])


def _listed(found: Mapping[str, Any], primary: str) -> ListedKey:
    expires = str(found.get("expires") or "")
    return ListedKey(
        fingerprint=str(found["fingerprint"]),
        primary=primary,
        algorithm=str(found["algo"]),
        bits=int(found["length"] or 0),
        validity=str(found["trust"]),
        expires_at=datetime.fromtimestamp(int(expires), UTC) if expires else None,
    )
