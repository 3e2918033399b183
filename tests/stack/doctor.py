"""The doctor in the stack: content with it as it is shipped, and not with a file that would cost its data."""

from __future__ import annotations

import json
from typing import Any

from tests.stack.engine import COMPOSE, say
from tests.stack.installation import Installation


def findings(stack: Installation, *options: str) -> list[dict[str, Any]]:
    """As docs/operators/health.md says to run it."""
    words = ("run", "--rm", "--no-deps", "-T", *options, "migrate", "doctor", "--json")
    said = stack.compose(*words, check=False)
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
    done = findings(stack, "-v", f"{folder}:/files:ro", "-e", "ROUTELOOM_COMPOSE=/files")
    found = [each for each in done if each["check"] == "append_only" and each["grade"] == "problem"]
    assert len(found) == 1, done
    say(f"  finds it: {found[0]['text']}")
    say(f"  and says: {found[0]['remedy']}")
