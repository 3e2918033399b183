"""The append-only trap: switched on in a file, a server that has only a dump starts empty and replaces it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from routeloom.doctor.findings import Finding, good, note, problem
from routeloom.doctor.tiers import Server, opened, servers, states
from shared.cache import Tier, TierMisconfigured, TierUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from routeloom.doctor.deployment import Deployment

_DIRECTIVE = re.compile(r"^\s*appendonly\s+[\"']?yes", re.IGNORECASE | re.MULTILINE)
_ARGUMENT = re.compile(r"--appendonly[\"',\s]+yes", re.IGNORECASE)


async def look_at_persistence(deployment: Deployment) -> list[Finding]:
    """What the next start of each Valkey would do to its data."""
    if deployment.compose is None:
        return []
    found: list[Finding] = []
    for name, server in _running(deployment):
        files = _switched_on(deployment.compose, name)
        found.append(judged(name, files, append_only=await _append_only(server)))
    return found


def _running(deployment: Deployment) -> Iterator[tuple[str, Server | None]]:
    kv = next((server for server in servers(deployment) if server.tier is Tier.KV), None)
    yield "valkey", kv
    yield "valkey-state", next(iter(states(deployment)), None)


def _switched_on(directory: Path, name: str) -> list[str]:
    """The files that tell the server's next start to use an append-only file."""
    found = []
    configuration = directory / f"{name}.conf"
    if configuration.exists() and _DIRECTIVE.search(configuration.read_text(encoding="utf-8")):
        found.append(configuration.name)
    compose = directory / "compose.yaml"
    if compose.exists() and _ARGUMENT.search(_service(compose.read_text(encoding="utf-8"), name)):
        found.append(compose.name)
    return found


def _service(text: str, name: str) -> str:
    """The part of the compose file about one service, less its comments."""
    match = re.search(rf"^  {re.escape(name)}:\n((?:    .*\n|\s*\n)*)", text, re.MULTILINE)
    return re.sub(r"#.*", "", match[1]) if match else ""


async def _append_only(server: Server | None) -> bool | None:
    """Whether the running server writes one; None where that cannot be known."""
    if server is None:
        return None
    try:
        async with opened(server) as cache:
            return (await cache.info()).append_only
    except (TierMisconfigured, TierUnavailable):
        return None


def judged(name: str, files: list[str], *, append_only: bool | None) -> Finding:
    """What the files and the running server come to together."""
    container = f"docker-compose-{name}-1"
    if files and not append_only:
        text = (
            f"{' and '.join(files)} switch on the append-only file of {name}, which runs without one:"
            " its next start would begin empty and then replace dump.rdb."
        )
        remedy = (
            f"docker exec -e ROUTELOOM_AS=maintenance {container} valkey-cli CONFIG SET appendonly yes"
            "   # before any restart; or set appendonly no again"
        )
        return problem("append_only", text, remedy)
    if append_only and not files:
        text = f"{name} writes an append-only file that its configuration does not know of."
        return note("append_only", text, f"set appendonly yes in {name}.conf, now that the file is there")
    return good("append_only", f"{name}: the next start finds its data.")
