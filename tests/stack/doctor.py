"""The doctor in the stack: content with it as it is shipped, and not with a file that would cost its data."""

from __future__ import annotations

import json
from typing import Any

from tests.stack.engine import COMPOSE, say
from tests.stack.installation import Installation


def findings(stack: Installation, files: str = "/etc/routeloom/compose") -> list[dict[str, Any]]:
    """As docs/operators/health.md says to run it."""
    words = f"run --rm --no-deps -T -e ROUTELOOM_COMPOSE={files} migrate doctor --json"
    said = stack.compose(*words.split(), check=False)
    return list(json.loads(said[said.index("[\n") : said.rindex("]") + 1]))


def content(stack: Installation) -> None:
    done = findings(stack)
    # The public address is this host's loopback here, which a container has another of.
    wrong = [
        each for each in done if each["grade"] == "problem" and "at the public address" not in each["text"]
    ]
    assert not wrong, wrong
    looked = {each["check"] for each in done}
    wanted = {"versions", "policy", "keys_without_ttl", "instances", "clocks", "migrations", "append_only"}
    assert wanted <= looked, looked
    say(f"  {len(done)} things looked at, nothing to mend")


def finds_the_trap(stack: Installation) -> None:
    """A copy of the shipped files with the one line changed, beside the running server."""
    folder = stack.engine.state / "trap"
    folder.mkdir(exist_ok=True)
    text = (COMPOSE / "valkey.conf").read_text().replace("appendonly no", "appendonly yes")
    (folder / "valkey.conf").write_text(text)
    said = stack.engine.run(
        *("podman", "run", "--rm", "--network", "docker-compose_data", "--read-only"),
        *("--volume", f"{folder}:/files:ro", "--volume", "docker-compose_secrets-control:/run/secrets:ro"),
        *("--env", "ROUTELOOM_CONFIG=/run/secrets/routeloom.toml"),
        *("--env", "ROUTELOOM_CONTROL_STATE_DIRECTORY=/tmp"),
        *("localhost/routeloom:latest", "doctor", "--compose", "/files"),
        check=False,
    )
    assert said.returncode == 1, said.stdout
    assert "would begin empty" in " ".join(said.stdout.split()), said.stdout
    say("  finds an append-only file that was switched on by the file alone")
