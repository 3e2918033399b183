"""Every key family of the tiers, from the services' declarations."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from routeloom.reference.markdown import page as whole
from routeloom.reference.markdown import table

if TYPE_CHECKING:
    from shared.cache import KeyFamily

_SERVICES = ("control_server", "auth_server", "registry_server")
_INTRODUCTION = """The two tiers hold nothing but these keys. `kv` is Valkey, whose copies heal by
themselves; `cache` is Redis, whose every value can be computed anew from SQL. A tier that is not configured
is replaced by the fallback."""
_HEADS = (
    "family",
    "tier, database",
    "kind",
    "TTL",
    "writer",
    "purpose",
    "cap",
    "a loss costs",
    "after a restart",
)


def page() -> str:
    """`docs/reference/keys.md`."""
    rows = [_row(family) for family in families()]
    return whole("Keys", _INTRODUCTION, table(_HEADS, rows) if rows else "No family is declared yet.")


def families() -> list[KeyFamily]:
    """Every declared family, by service and name."""
    found: list[KeyFamily] = []
    for service in _SERVICES:
        if find_spec(f"{service}.keys") is not None:
            found += sorted(import_module(f"{service}.keys").REGISTRY, key=lambda each: each.name)
    return found


def _row(family: KeyFamily) -> tuple[object, ...]:
    ttl = f"{family.ttl.total_seconds():.0f} s" if family.ttl else "none"
    if family.negative_ttl:
        ttl += f", negative {family.negative_ttl.total_seconds():.0f} s"
    return (
        f"`{family.pattern}`",
        f"{family.tier} {family.database}",
        family.kind,
        ttl,
        family.writer,
        family.purpose,
        family.cap or "",
        family.loss,
        family.restart,
    )
