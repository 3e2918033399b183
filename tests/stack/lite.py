"""Lite in a container: a cold start without any network, and one volume for one container."""

from __future__ import annotations

from tests.stack.engine import Engine, say
from tests.stack.images import OURS
from tests.stack.story import wait_for

_VOLUME = "lite-state"
_RUN = (
    *("--read-only", "--tmpfs", "/tmp:mode=1777,size=64m", "--cap-drop", "ALL", "--init"),
    *("--security-opt", "no-new-privileges", "--env", "ROUTELOOM_HOME=/var/lib/routeloom/lite"),
    *("--volume", f"{_VOLUME}:/var/lib/routeloom/lite", "--network", "none"),
)


def cold_start(engine: Engine) -> None:
    """Everything that a first start needs is in the image."""
    engine.podman("run", "--detach", "--name", "lite-first", *_RUN, OURS, "lite")

    def alive() -> bool:
        words = ("exec", "lite-first", "python", "-m", "routeloom.stack.alive", "8420", "/livez")
        return engine.run("podman", *words, check=False).returncode == 0

    def complete() -> bool:
        return "Invitation" in engine.podman("logs", "lite-first")

    wait_for("Lite answers without a network", alive)
    wait_for("Lite has brought everything up", complete)
    say("  Lite started from nothing with --network none")


def second_is_refused(engine: Engine) -> None:
    """Two containers on one volume would both write its databases."""
    done = engine.run("podman", "run", "--rm", *_RUN, OURS, "lite", check=False)
    assert done.returncode not in (0, 125, 126, 127), done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    sentence = done.stdout.strip().splitlines()[-1]
    assert "lite.lock" in sentence or "another" in sentence.lower() or "already" in sentence, sentence
    say(f"  the second on the same volume was refused: {sentence}")


def remove(engine: Engine) -> None:
    engine.run("podman", "rm", "--force", "--time", "5", "lite-first", check=False)
    engine.run("podman", "volume", "rm", "--force", _VOLUME, check=False)
