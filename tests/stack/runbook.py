"""The commands of the runbook word for word, and what must not be possible."""

from __future__ import annotations

import re
from pathlib import Path

from tests.stack.engine import ROOT, Engine, say
from tests.stack.installation import Installation
from tests.stack.story import wait_for

_PAGE = ROOT / "docs" / "operators" / "incidents.md"
_REFUSED = (
    "docker exec docker-compose-valkey-1 valkey-cli -n 1 FLUSHDB",
    "docker exec docker-compose-valkey-1 valkey-cli FLUSHALL",
    "docker exec docker-compose-valkey-1 valkey-cli SWAPDB 1 2",
    "docker exec docker-compose-valkey-1 valkey-cli CONFIG SET maxmemory-policy allkeys-lru",
    "docker exec -e ROUTELOOM_AS=maintenance docker-compose-valkey-1 valkey-cli FLUSHALL",
    "docker exec docker-compose-valkey-state-1 valkey-cli FLUSHDB",
    "docker exec docker-compose-redis-1 redis-cli CONFIG SET maxmemory 1",
)


def commands(page: Path = _PAGE) -> list[str]:
    """Every command for a container that the runbook gives in a block."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^ {4,}(?:sudo )?docker exec .*$", text, re.MULTILINE)


def word_for_word(engine: Engine) -> None:
    """Run each as it stands there; none asks for a password, and each says something."""
    for line in (command.strip() for command in commands()):
        done = engine.shell(line)
        silent_is_fine = "--scan" in line or "CONFIG SET" in line
        assert done.returncode == 0, f"{line}\n{done.stdout}"
        assert done.stdout.strip() or silent_is_fine, line
        assert not re.search(r"NOAUTH|NOPERM|WRONGPASS|AUTH failed", done.stdout), f"{line}\n{done.stdout}"
        say(f"  $ {line}\n      {(done.stdout.strip().splitlines() or ['(no key now)'])[0]}")


def refusals(engine: Engine) -> None:
    """What would cost the only copy is refused by the server itself."""
    for line in _REFUSED:
        said = engine.shell(line).stdout
        assert "NOPERM" in said, f"{line}\n{said}"
        say(f"  $ {line}\n      {said.strip()}")


def guarded_start(stack: Installation) -> None:
    """The trap itself: with only a dump and the file switched on, the server does not start."""
    engine, volume = stack.engine, "docker-compose_valkey-data"
    name = stack.container("valkey")
    engine.podman("exec", "-e", "ROUTELOOM_AS=maintenance", name, "valkey-cli", "bgsave")
    kept = ("exec", name, "test", "-s", "/data/dump.rdb")
    wait_for("the dump is written", lambda: engine.run("podman", *kept, check=False).returncode == 0)
    command = [
        *("run", "--rm", "--network", "none", "--user", "valkey", "--read-only"),
        *("--volume", f"{volume}:/data:ro", "--volume", f"{ROOT}/docker-compose/cli:/opt/routeloom/cli:ro"),
        *(
            "--env",
            "PATH=/opt/routeloom/cli:/usr/local/bin:/usr/bin:/bin",
            "localhost/stand-in/valkey:latest",
        ),
        *("valkey-server", "--dir", "/data", "--appendonly", "yes"),
    ]
    done = engine.run("podman", *command, check=False)
    assert done.returncode == 78, done.stdout
    assert "would begin empty" in done.stdout, done.stdout
    say(f"  the append-only trap: {done.stdout.strip().splitlines()[-2]}")
