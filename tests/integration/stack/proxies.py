"""Caddy and nginx with the shipped configuration in front of a server of this process."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from shared.testing.servers.ports import free_loopback_port
from shared.testing.servers.process import find_program
from tests.stack.engine import COMPOSE

#: An idle cut that some networks have, and that a stream has to outlive.
CUT_SECONDS = 30
#: Where the shipped file keeps what it writes.
TEMPORARY = "/tmp/"  # noqa: S108 - text of a file


@contextmanager
def caddy(upstream: int, directory: Path) -> Iterator[int]:
    """The port at which the shipped Caddyfile serves."""
    port = free_loopback_port()
    names = ("CONTROL", "AUTH", "REGISTRY", "CAP")
    settings = {f"ROUTELOOM_{name}_UPSTREAMS": f"127.0.0.1:{upstream}" for name in names} | {
        "ROUTELOOM_SITE": f"http://localhost:{port}",
        "XDG_DATA_HOME": str(directory),
        "XDG_CONFIG_HOME": str(directory),
    }
    command = [find_program("caddy", "caddy"), "run", "--adapter", "caddyfile"]
    command += ["--config", str(COMPOSE / "Caddyfile")]
    yield from _serving(command, settings, directory / "caddy.log", port)


@contextmanager
def nginx(upstream: int, directory: Path, *, cut_seconds: int | None = None) -> Iterator[int]:
    """The port at which the shipped nginx.conf serves, without TLS; with a shorter cut if that is wanted."""
    port = free_loopback_port()
    file = directory / "nginx.conf"
    file.write_text(nginx_configuration(upstream, port, directory, cut_seconds))
    command = [find_program("nginx", "nginx-light"), "-c", str(file), "-e", "stderr", "-g", "daemon off;"]
    yield from _serving(command, {}, directory / "nginx.log", port)


def nginx_configuration(upstream: int, port: int, directory: Path, cut_seconds: int | None) -> str:
    """The shipped file with this host's ports and directories."""
    text = (COMPOSE / "nginx.conf").read_text()
    text = text.replace(TEMPORARY, f"{directory}/")
    text = re.sub(r"server (control|auth|registry):\d+", f"server 127.0.0.1:{upstream}", text)
    text = re.sub(r"listen 80;", f"listen 127.0.0.1:{free_loopback_port()};", text)
    text = re.sub(r"listen 443 ssl http2;", f"listen 127.0.0.1:{port};", text)
    text = re.sub(r"^\s*ssl_.*\n", "", text, flags=re.MULTILINE)
    text = text.replace("server_name loom.example;", "server_name localhost;")
    if cut_seconds is not None:
        text = re.sub(r"proxy_(read|send)_timeout \d+s", rf"proxy_\1_timeout {cut_seconds}s", text)
    # Its workers are of a user who cannot enter a test's own directory.
    return f"user root;\n{text}" if os.geteuid() == 0 else text


def _serving(command: list[str], settings: dict[str, str], log: Path, port: int) -> Iterator[int]:
    with log.open("wb") as output:
        running = subprocess.Popen(command, env=os.environ | settings, stdout=output, stderr=output)
    try:
        while not _listens(port):
            assert running.poll() is None, log.read_text()
        yield port
    finally:
        running.terminate()
        running.wait(20)


def _listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
