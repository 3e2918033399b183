"""Background work of passkeys."""

from __future__ import annotations

from datetime import timedelta

from auth_server.passkeys.store import SqlCeremonies
from auth_server.resources import AuthResources
from shared.kernel.loops import Loop


def loops(resources: AuthResources) -> list[Loop]:
    """Forgets challenges that nobody answered."""
    ceremonies = SqlCeremonies(resources.database, resources.now)
    return [Loop("passkeys.forget", ceremonies.forget_expired, interval=timedelta(minutes=1))]
