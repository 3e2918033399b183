"""Checks signatures in a few threads of their own: never on the event loop, never more than a few at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from auth_server.ownership.errors import ChecksBusy, PublicKeyNeeded
from auth_server.ownership.rules.challenges import PGP_METHODS, signable_forms
from auth_server.ownership.rules.pasted import Form, read_public_key, read_signature
from auth_server.ownership.rules.pgp import judge, pgp_lines
from auth_server.ownership.rules.ssh import check_ssh
from auth_server.ownership.schemas import ProofFinish, SignedBy, Window
from auth_server.ownership.store.gnupg import GnuPG
from shared.kernel.clock import Clock
from shared.protocol.registry import AuthLine

_THREADS = 2
_MOST_WAITING = 16


@dataclass(frozen=True, slots=True)
class Question:
    """What a signature is to be one of."""

    text: str
    namespace: str
    lines: Sequence[AuthLine]
    window: Window


@dataclass(slots=True)
class Verifier:
    """Says which of the registry's lines made a signature; one for the life of the process."""

    now: Clock
    gnupg: GnuPG = field(default_factory=GnuPG)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_THREADS, "signatures"))
    _waiting: int = 0

    async def verify(self, pasted: ProofFinish, question: Question) -> SignedBy:
        """The line whose key signed. Raises SignatureRefused, ChecksBusy or PgpUnavailable."""
        form, block = read_signature(pasted.signature)
        public_key = read_public_key(pasted.public_key)
        if form is Form.SSH:
            work = partial(
                check_ssh, block, signable_forms(question.text), question.lines, question.namespace
            )
        else:
            _demand_key(public_key, question.lines)
            work = partial(self._check_pgp, (form, block), public_key, question)
        if self._waiting >= _MOST_WAITING:
            raise ChecksBusy(retry_after=timedelta(seconds=5))
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._waiting -= 1

    def _check_pgp(self, signed: tuple[Form, str], public_key: str, question: Question) -> SignedBy:
        forms = signable_forms(question.text)
        evidence = self.gnupg.check(signed, forms, _certificates(question.lines), public_key)
        listed = pgp_lines(question.lines, evidence.certified)
        return judge(evidence.report, forms, listed, question.window, self.now())


def _certificates(lines: Sequence[AuthLine]) -> dict[str, str]:
    return {line.value: line.certificate for line in lines if line.method in PGP_METHODS and line.certificate}


def _demand_key(public_key: str, lines: Sequence[AuthLine]) -> None:
    """Without any key nothing can be checked, and gpg fetches none. Raises PublicKeyNeeded."""
    if not public_key and not _certificates(lines):
        raise PublicKeyNeeded
