"""The host: Python, room on its disks, and the ports that are wanted."""

from __future__ import annotations

import errno
import http.client
import shutil
import socket
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from routeloom.doctor.findings import Finding, good, note, problem
from shared import __version__

if TYPE_CHECKING:
    from routeloom.doctor.deployment import Deployment

_GIB = 2**30
_SCARCE, _LITTLE = 0.05, 0.15
_LEAST = _GIB // 2
_OLDEST_PYTHON = (3, 11)
_SECONDS = 3
_ABSENT = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}


def look_at_host(deployment: Deployment) -> list[Finding]:
    """Findings about the machine that this runs on."""
    return [_python(), *_disks(deployment), *_ports(deployment)]


def _python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < _OLDEST_PYTHON:
        return problem("versions", f"Python {version} is too old.", "install Python 3.11 or newer")
    return good("versions", f"Routeloom {__version__} on Python {version}.")


def _disks(deployment: Deployment) -> Iterator[Finding]:
    seen = set()
    for settings in deployment.services.values():
        place = _existing(settings.state_directory)
        device = place.stat().st_dev
        if device not in seen:
            seen.add(device)
            yield room(place, *shutil.disk_usage(place)[::2])


def _existing(path: Path) -> Path:
    return next(place for place in (path, *path.absolute().parents) if place.exists())


def room(place: Path, total: int, free: int) -> Finding:
    """How much is left on the disk that a directory is on."""
    share = free / total if total else 0.0
    sentence = f"{free / _GIB:.1f} GiB of {total / _GIB:.0f} GiB are free where {place} is."
    remedy = f"du -xh --max-depth=2 {place} | sort -h | tail"
    if share < _SCARCE or free < _LEAST:
        return problem("disk", sentence, remedy)
    if share < _LITTLE:
        return note("disk", sentence, remedy)
    return good("disk", sentence)


def _ports(deployment: Deployment) -> Iterator[Finding]:
    """The services' ports are free, or it is they who answer there."""
    paths = {"control": "/livez", "auth": "/auth/livez", "registry": "/registry/livez"}
    for name, settings in deployment.services.items():
        web = settings.web
        if web.port:
            yield port(name, web.host, web.port, paths[name])


def port(name: str, host: str, number: int, path: str) -> Finding:
    """Whether a service can have its port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as wanted:
        wanted.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            wanted.bind((host, number))
        except OSError as error:
            if error.errno == errno.EADDRINUSE and _ours(host, number, path):
                return good("ports", f"Port {number} is {name}'s, which answers there.")
            if error.errno in _ABSENT:
                text = f"This host has no address {host}, which {name} is to listen at."
                variable = f"ROUTELOOM_{name.upper()}_WEB__HOST"
                return problem("ports", text, f"export {variable}=::1   # one that `ip address` lists")
            remedy = f"ss -ltnp 'sport = :{number}'"
            return problem("ports", f"Port {number} of {name} cannot be had: {error.strerror}.", remedy)
    return good("ports", f"Port {number} of {name} is free.")


def _ours(host: str, number: int, path: str) -> bool:
    place = "127.0.0.1" if ip_address(host).is_unspecified else host
    connection = http.client.HTTPConnection(place, number, timeout=_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
