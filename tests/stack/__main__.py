"""`make compose-check`: builds the shipped images and runs the shipped stack, from an empty host on.

It needs root, podman, runc and debootstrap, and keeps all of it below ROUTELOOM_STACK_STATE. The stack runs
in a network namespace of its own, so that nothing leaves this host.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from setup.system_packages import SEARCHED
from tests.stack import captcha, doctor, faults, images, lite, runbook, story
from tests.stack.engine import COMPOSE, ROOT, CommandFailed, Engine, compose, compose_program, say
from tests.stack.installation import URL, Installation
from tests.stack.load import Load
from tests.stack.neighbour import neighbour

STATE = Path(os.environ.get("ROUTELOOM_STACK_STATE") or Path(tempfile.gettempdir()) / "routeloom-stack")
_PACKAGES = ("podman", "runc", "netavark", "aardvark-dns", "buildah", "debootstrap", "iptables", "catatonit")


def main() -> int:
    engine = Engine(STATE)
    if sys.argv[1:] == ["inside"]:
        check(engine)
        return 0
    if os.geteuid() != 0:
        say("compose-check needs root: it makes network namespaces and runs containers.")
        return 1
    install_packages()
    engine.prepare()
    compose_program()
    images.prepare(engine)
    inside = [sys.executable, "-m", "tests.stack", "inside"]
    return subprocess.run(["unshare", "--net", *inside], cwd=ROOT, check=False).returncode


def install_packages() -> None:
    programs = ("podman", "runc", "debootstrap", "iptables")
    if all(any(Path(place, name).exists() for place in SEARCHED.split(":")) for name in programs):
        return
    say(f"installing {' '.join(_PACKAGES)} with apt")
    options = ("--yes", "--quiet", "--no-install-recommends")
    subprocess.run(["apt-get", "install", *options, *_PACKAGES], check=True, stdout=subprocess.DEVNULL)


def check(engine: Engine) -> None:
    """The whole check, in a network of its own."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)
    began = time.monotonic()
    stack = Installation(engine)
    clean(engine)
    try:
        every_file_is_understood(engine, stack)
        with neighbour():
            the_stack(stack)
        say("Lite")
        lite.cold_start(engine)
        lite.second_is_refused(engine)
    finally:
        clean(engine)
    say(f"compose-check: passed in {time.monotonic() - began:.0f} s")


def clean(engine: Engine) -> None:
    """Forget containers, volumes and networks of an earlier run, and nothing else."""
    lite.remove(engine)
    for words in (("rm", "-fa", "-t", "3"), ("volume", "rm", "-fa"), ("network", "prune", "-f")):
        engine.run("podman", *words, check=False)


def every_file_is_understood(engine: Engine, stack: Installation) -> None:
    for name in ("compose.yaml", "compose.lite.yaml"):
        compose(engine, [COMPOSE / name], stack.settings, "config")
        say(f"{name} is understood")
    empty = engine.state / "empty.env"
    empty.write_text("")
    with pytest.raises(CommandFailed, match=r"set ROUTELOOM_HOST in docker-compose/\.env"):
        compose(engine, [COMPOSE / "compose.yaml"], empty, "config")
    say("without a setting that it needs, the sentence names it")


def the_stack(stack: Installation) -> None:
    engine = stack.engine
    say("An empty host")
    stack.up()
    stack.await_all_healthy()
    token = story.person(stack)
    asking = story.caller(stack)
    with ExitStack() as running:
        running.enter_context(story.agent(engine.state / "agent", token))
        story.wait_for("the agent is online", asking.online)
        say("  an agent is online")
        story.streamed(asking)
        say("The doctor")
        doctor.content(stack)
        doctor.finds_the_trap(stack)
        say("The append-only trap")
        runbook.guarded_start(stack)
        say("The runbook")
        runbook.word_for_word(engine)
        runbook.refusals(engine)
        load = Load(URL, asking.token)
        running.enter_context(load.running())
        say("Without Valkey")
        faults.without_valkey(stack, load, asking)
        say("Every container killed once under load")
        faults.kill_each(stack, load, asking)
    say("The captcha")
    captcha.switched_on(stack)


if __name__ == "__main__":
    sys.exit(main())
