"""Before the first start: whether the ports that the stack will publish can be had."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from routeloom.doctor.findings import Finding, good, problem

if TYPE_CHECKING:
    from routeloom.doctor.deployment import Deployment

_PUBLISHED = re.compile(
    r'^\s*- "(?:(?P<host>[\d.]+):)?\$\{(?P<name>[A-Z_]+):-(?P<port>\d+)\}:\d+"', re.MULTILINE
)
_SETTING = re.compile(r"^([A-Z_]+)=(.*)$", re.MULTILINE)
_EVERYWHERE = ""


def look_at_published(deployment: Deployment) -> list[Finding]:
    """Where services are configured they have their ports already, or say so themselves."""
    if deployment.compose is None or deployment.services:
        return []
    return [judged(host, port) for host, port in wanted(deployment.compose, os.environ)]


def wanted(directory: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Address and number of each port, by the compose file, `.env` and variables."""
    file = directory / ".env"
    settings = dict(_SETTING.findall(file.read_text(encoding="utf-8"))) if file.exists() else {}
    settings |= environment
    for found in _PUBLISHED.finditer((directory / "compose.yaml").read_text(encoding="utf-8")):
        value = settings.get(found["name"]) or found["port"]
        host, _, port = value.strip().rpartition(":")
        yield host or found["host"] or _EVERYWHERE, int(port)


def judged(host: str, port: int) -> Finding:
    """Whether somebody listens there already."""
    try:
        with socket.create_server((host, port)):
            return good("ports", f"Port {port} is free.")
    except OSError as error:
        text = f"Port {port} cannot be published: {error.strerror}."
        return problem("ports", text, f"ss -ltnp 'sport = :{port}'   # or choose another in .env")
