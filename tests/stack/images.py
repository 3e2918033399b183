"""Our image from the shipped Dockerfile, and stand-ins of the official ones from Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.stack.engine import COMPOSE, ROOT, Engine, say

BASE = "localhost/debian-python:12"
OURS = "localhost/routeloom:latest"
STAND_INS = ("postgres", "valkey", "redis", "caddy", "cap")
_PACKAGES = ",".join(
    (
        *("ca-certificates", "python3", "python3-venv", "git", "gnupg", "openssh-client"),
        *("iputils-ping", "traceroute", "mtr-tiny", "libcap2-bin"),
    )
)
_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")


def stand_in(name: str) -> str:
    return f"localhost/stand-in/{name}:latest"


def prepare(engine: Engine) -> None:
    """Make what is missing; our own image is built each time, from the tree as it is."""
    base = os.environ.get("BASE", "")
    if not base:
        base = BASE
        if not engine.has_image(BASE):
            _debootstrap(engine)
    say(f"images: building {OURS} on {base}")
    _build(engine, base, COMPOSE / "Dockerfile", OURS, str(ROOT))
    folder = Path(__file__).parent / "stand_ins"
    for name in STAND_INS:
        if not engine.has_image(stand_in(name)):
            say(f"images: building {stand_in(name)}")
            _build(engine, base, folder / "Dockerfile", stand_in(name), "--target", name, str(folder))


def _build(engine: Engine, base: str, dockerfile: Path, tag: str, *words: str) -> None:
    options = ["--network", "host", "--isolation", "chroot", "--build-arg", f"BASE={base}"]
    if _AUTHORITIES.exists():
        # A network may have an authority of its own, which this host's file knows and a fresh image does not.
        options += ["--volume", f"{_AUTHORITIES.parent}:{_AUTHORITIES.parent}:ro"]
        options += ["--build-arg", f"NODE_EXTRA_CA_CERTS={_AUTHORITIES}"]
    engine.run("nice", "podman", "build", *options, "--file", str(dockerfile), "--tag", tag, *words)


def _debootstrap(engine: Engine) -> None:
    """A Debian with Python from the mirror that this host's own apt uses."""
    say(f"images: making {BASE} with debootstrap")
    query = [
        "apt-get",
        "indextargets",
        "--format",
        "$(REPO_URI)",
        "Created-By: Packages",
        "Codename: bookworm",
    ]
    listed = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()
    tree = engine.state / "debian"
    shutil.rmtree(tree, ignore_errors=True)
    engine.run(
        *("nice", "debootstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", str(tree)),
        *listed[:1],
    )
    engine.run("bash", "-c", f"tar -C {tree} --exclude='*.deb' -c . | podman import - {BASE}")
    shutil.rmtree(tree)
