"""Debian packages: installed as root, otherwise named in one sentence."""

import importlib.util
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from setup import backports
from setup.steps import ProgramFailed, SetupFailed, run, say, unreachable

POLICY = Path("/usr/sbin/policy-rc.d")
SEARCHED = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


@dataclass(frozen=True)
class Need:
    """A package, and what shows that it or something as good is there: a program, or a pattern of files."""

    package: str
    evidence: str
    missing_is_fine: bool = False

    def met(self) -> bool:
        if self.package == "python3-venv":
            return importlib.util.find_spec("ensurepip") is not None
        if self.evidence.startswith("/"):
            return any(Path("/").glob(self.evidence.removeprefix("/")))
        return shutil.which(self.evidence, path=SEARCHED) is not None


# A probe tool that is missing is a capability that the local node does not announce; without gnupg nobody
# proves a maintainer by a PGP key.
TO_RUN = (
    Need("python3-venv", "ensurepip"),
    Need("git", "git"),
    Need("iputils-ping", "ping", missing_is_fine=True),
    Need("traceroute", "traceroute", missing_is_fine=True),
    Need("mtr-tiny", "mtr", missing_is_fine=True),
    Need("gnupg", "gpg", missing_is_fine=True),
)
TO_TEST = (
    Need("postgresql", "/usr/lib/postgresql/*/bin/postgres"),
    Need("valkey-server", "valkey-server"),
    Need("redis-server", "redis-server"),
    Need("chromium", "chromium"),
    Need("fonts-wqy-microhei", "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"),
    Need("openssh-client", "ssh-keygen"),
    Need("openssh-server", "sshd"),
    Need("openbgpd", "bgpd"),
    Need("frr", "/usr/lib/frr/bgpd"),
    Need("iproute2", "ip"),
    Need("bird2", "bird"),
    Need("bgpq4", "bgpq4"),
    Need("whois", "whois"),
    Need("stayrtr", "stayrtr"),
    Need("caddy", "caddy"),
    Need("nginx-light", "nginx"),
    Need("wireguard-go", "wireguard-go"),
    Need("wireguard-tools", "wg"),
)


def needs(part: str) -> Sequence[Need]:
    if part == "run":
        return TO_RUN
    return [Need(need.package, need.evidence) for need in TO_RUN] + list(TO_TEST)


def install(part: str) -> None:
    missing = [need for need in needs(part) if not need.met()]
    if not missing:
        return
    obstacle = _obstacle()
    if obstacle is None:
        say(f"installing {_names(missing)} with apt")
        obstacle = _apt_install([need.package for need in missing])
        missing = [need for need in missing if not need.met()]
    required = [need for need in missing if not need.missing_is_fine]
    if required:
        raise SetupFailed(f"Please install {_names(required)}{_where(required)}: {obstacle}.")
    if missing:
        say(f"going on without {_names(missing)}: {obstacle}; what needs them is not offered")


def _names(needed: Sequence[Need]) -> str:
    return " ".join(need.package for need in needed)


def _where(needed: Sequence[Need]) -> str:
    codename = backports.release_codename()
    if codename == "bookworm" and any(need.package == "valkey-server" for need in needed):
        return f" (valkey-server is in {codename}-backports)"
    return ""


def _obstacle() -> str | None:
    if shutil.which("apt-get") is None:
        return "this machine has no apt to do it with"
    if os.geteuid() != 0:
        return "only root can do it here"
    return None


def _apt_install(packages: Sequence[str]) -> str:
    """Install what can be installed; the answer says why the rest could not."""
    options = ("--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300")
    try:
        _update()
        if "valkey-server" in packages and not _has_candidate("valkey-server") and backports.add():
            _update()
        with _services_kept_down():
            run(["apt-get", "install", *options, *packages], env={"DEBIAN_FRONTEND": "noninteractive"})
    except ProgramFailed as failure:
        if unreachable(failure.output):
            return "the package mirror cannot be reached"
    return "apt could not, .stamps/setup.log says why"


def _update() -> None:
    # A mirror that is not needed here may be down; what is really missing shows at the install.
    try:
        run(["apt-get", "update"])
    except ProgramFailed:
        say("some package lists could not be refreshed")


def _has_candidate(package: str) -> bool:
    try:
        run(["apt-get", "install", "--simulate", package])
    except ProgramFailed:
        return False
    return True


@contextmanager
def _services_kept_down() -> Iterator[None]:
    """The servers are wanted as programs: no daemon starts because its package was unpacked."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n", encoding="ascii")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()
