"""How fresh a proof must be for an act that changes who may do what."""

from __future__ import annotations

from datetime import datetime, timedelta

from control_server.operators.schemas import Identity, Login

#: Two hosts' clocks may differ by so much.
_CLOCKS = timedelta(seconds=60)


def is_fresh(stepped_up_at: datetime | None, life: timedelta, at: datetime) -> bool:
    """Whether the person proved who they are within `life`."""
    return stepped_up_at is not None and at - stepped_up_at <= life


def proves_anew(identity: Identity, login: Login, sub: str | None) -> bool:
    """Whether the same person signed in after they were asked to, and not with an older sign-in."""
    return identity.sub == sub and identity.auth_time >= login.created_at - _CLOCKS
