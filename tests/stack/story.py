"""From an empty host to a signed-in browser, an online agent and a probe streamed through the proxy."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from playwright.sync_api import expect

from tests.browser.conftest import sign_in
from tests.chromium import chromium, desks_at
from tests.stack.engine import say
from tests.stack.installation import URL, Installation
from tests.stack.neighbour import TARGET

NODE = "fra1"
_PATIENCE = 90


def wait_for(what: str, condition: Callable[[], bool], seconds: float = _PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"did not come true: {what}"
        # A token has a rate, and the load uses the same one.
        time.sleep(1)


def invitation(stack: Installation) -> str:
    """The link in the log of the one-shot container, as an operator finds it."""
    found = re.search(rf"{re.escape(URL)}/auth/\S+", stack.logs("migrate"))
    assert found, stack.logs("migrate")
    return found[0]


def person(stack: Installation) -> str:
    """A browser accepts the invitation with a passkey and signs in; the enrolment token it made."""
    with chromium() as browser, desks_at(browser, URL) as desks:
        desk = desks.open()
        desk.accept(invitation(stack), "ada")
        sign_in(desk, "/enrolment")
        desk.page.get_by_label("Node").fill(NODE)
        desk.page.get_by_role("button", name="Make token").click()
        token = desk.page.get_by_text(re.compile(r"^rle_"))
        expect(token).to_be_visible()
        text = token.inner_text().strip()
    say("  a browser accepted the invitation with a passkey and is signed in")
    return text


@contextmanager
def agent(directory: Path, token: str) -> Iterator[subprocess.Popen[bytes]]:
    """An agent on this host, enrolled through the proxy."""
    directory.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        "ROUTELOOM_AGENT_SERVER_URL": URL,
        "ROUTELOOM_AGENT_STATE_DIRECTORY": str(directory / "state"),
    }
    program = [sys.executable, "-m", "node_agent"]
    subprocess.run([*program, "enrol"], env=environment, input=token.encode(), check=True)
    with (directory / "agent.log").open("wb") as log:
        running = subprocess.Popen([*program, "run"], env=environment, stdout=log, stderr=log)
        try:
            yield running
        finally:
            running.send_signal(signal.SIGTERM)
            running.wait(30)


@dataclass
class Caller:
    """Asks the API through the proxy with the token of the host's administrator."""

    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(f"{URL}{path}", headers=self.headers, timeout=30)

    def online(self) -> bool:
        answer = self.get(f"/api/v1/nodes/{NODE}")
        return answer.status_code == 200 and "online" in json.dumps(answer.json())

    def probe(self, count: int = 4) -> tuple[float, list[str], str]:
        """Seconds from the request to the first event, the lines, and how it ended."""
        wanted = {"nodes": [NODE], "tool": "ping", "target": TARGET, "options": {"count": count}}
        began = time.monotonic()
        made = httpx2.post(f"{URL}/api/v1/probes", json=wanted, headers=self.headers, timeout=30)
        assert made.status_code == 202, made.text
        ident, first, lines, state = made.json()["id"], 0.0, [], ""
        with httpx2.stream(
            "GET", f"{URL}/api/v1/probes/{ident}/stream", headers=self.headers, timeout=60
        ) as stream:
            name = ""
            for line in stream.iter_lines():
                if line.startswith("event:"):
                    name = line.partition(": ")[2]
                if line.startswith("data:"):
                    first = first or time.monotonic() - began
                    data = json.loads(line.partition(": ")[2])
                    if name == "output":
                        lines.append(data["text"])
                    state = name
        return first, lines, state


def caller(stack: Installation) -> Caller:
    """With the administrator's token, which `migrate` left in control's volume."""
    path = "/var/lib/routeloom/control/admin-token"
    return Caller(stack.engine.podman("exec", stack.container("control"), "cat", path).strip())


def streamed(asking: Caller) -> None:
    """The first event within a second: the best of some tries, for others work on this machine too."""
    tries = []
    for _ in range(5):
        first, lines, ended = asking.probe()
        assert ended == "done", ended
        assert sum("bytes from" in line for line in lines) == 4, lines
        tries.append(first)
        if first < 1:
            break
    assert min(tries) < 1, f"the first event took {min(tries):.2f} s at best"
    say(f"  a probe streamed through the proxy; first event after {min(tries):.2f} s")
