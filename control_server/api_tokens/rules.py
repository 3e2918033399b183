"""What a token may hold, and whose failures count together."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from ipaddress import IPv6Address, IPv6Network, ip_address

from control_server.api_tokens.schemas import TokenState
from shared.kernel.errors import FieldError, InvalidInput
from shared.kernel.principal import Principal, Scope

#: What one customer commonly holds; counting single addresses would count nothing.
_SITE_BITS = 64


def source_of(address: str) -> str:
    """An address, or the /64 of an IPv6 one, under which failures are counted."""
    try:
        known = ip_address(address)
    except ValueError:
        return address or "unknown"
    if not isinstance(known, IPv6Address):
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(IPv6Network((known, _SITE_BITS), strict=False))


def check_scopes(owner: Principal, wanted: Iterable[Scope]) -> None:
    """Raises InvalidInput for a scope that the owner, or the token that asks, does not have."""
    beyond = sorted(scope for scope in wanted if not owner.may(scope))
    if beyond:
        message = f"You do not have {', '.join(beyond)} yourself."
        raise InvalidInput(message, fields=[FieldError("scopes", "scope_beyond_role", message)])


def state_of(revoked_at: datetime | None, expires_at: datetime | None, at: datetime) -> TokenState:
    """Whether the token is good, and if not, why."""
    if revoked_at is not None:
        return "revoked"
    return "expired" if expires_at is not None and expires_at <= at else "active"
