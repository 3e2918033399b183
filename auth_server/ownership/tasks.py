"""Background work of proofs."""

from __future__ import annotations

from datetime import timedelta

from auth_server.ownership.service import Rechecking
from shared.kernel.loops import Loop


def loops(rechecking: Rechecking) -> list[Loop]:
    """Compares proofs with the registry, and forgets challenges that are over."""
    return [
        Loop("ownership.recheck", rechecking.what_is_due, interval=timedelta(minutes=1)),
        Loop("ownership.forget", rechecking.forget, interval=timedelta(minutes=10)),
    ]
