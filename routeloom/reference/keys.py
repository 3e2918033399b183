"""Every key family of the tiers and of the runtime state, from the services' declarations."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from control_server.durable import KEYS as DURABLE_KEYS
from control_server.durable import QUEUES
from routeloom.reference.markdown import page as whole
from routeloom.reference.markdown import table

if TYPE_CHECKING:
    from shared.cache import KeyFamily
    from shared.runtime_state import RuntimeStateFamily

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

_STATE_INTRODUCTION = """What `REDIS_URL` points at, under the prefix `REDIS_KEY_PREFIX`: a server, or this
process itself with `memory://`. All of it may vanish at any time. The lifetime of previews is the setting
`runtime_preview_artifact_ttl_seconds`, that of a lockout `ROUTELOOM_CONTROL_API_TOKENS__LOCKOUT_SECONDS`."""
_STATE_HEADS = (
    "family",
    "owner",
    "TTL",
    "purpose",
    "cap",
    "after a restart or a loss",
    "correctness depends on it",
)

_DURABLE_INTRODUCTION = f"""On `valkey-state`, database 1, where `ROUTELOOM_CONTROL_DURABLE__URL` is set; the
queues are {" and ".join(f"`{name}`" for name in QUEUES)}. The structures of a queue have no TTL, which is why
they are on no tier; they are bounded in number instead."""


def page() -> str:
    """`docs/reference/keys.md`."""
    rows = [_row(family) for family in families()]
    state = table(_STATE_HEADS, [_state_row(family) for family in runtime_state_families()])
    tiers = table(_HEADS, rows) if rows else "No family is declared yet."
    return whole(
        "Keys",
        _INTRODUCTION,
        tiers,
        "## Runtime state",
        _STATE_INTRODUCTION,
        state,
        "## Background jobs",
        _DURABLE_INTRODUCTION,
        _durable(),
    )


def _durable() -> str:
    rows = [(f"`{key.pattern}`", key.kind, key.purpose, key.cap, key.loss) for key in DURABLE_KEYS]
    return table(("key", "kind", "purpose", "cap", "a loss costs"), rows)


def families() -> list[KeyFamily]:
    """Every declared family, by service and name."""
    found: list[KeyFamily] = []
    for service in _SERVICES:
        if find_spec(f"{service}.keys") is not None:
            found += sorted(import_module(f"{service}.keys").REGISTRY, key=lambda each: each.name)
    return found


def runtime_state_families() -> list[RuntimeStateFamily]:
    """Every declared family of the runtime state, by service and name."""
    found: list[RuntimeStateFamily] = []
    for service in _SERVICES:
        if find_spec(f"{service}.runtime_keys") is not None:
            declared = import_module(f"{service}.runtime_keys").RUNTIME_STATE
            found += sorted(declared, key=lambda each: each.name)
    return found


def _state_row(family: RuntimeStateFamily) -> tuple[object, ...]:
    return (
        f"`{family.pattern}`",
        f"`{family.owner}`",
        f"{family.ttl.total_seconds():.0f} s",
        family.purpose,
        family.cap,
        family.loss,
        "yes" if family.correctness else "no",
    )


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
