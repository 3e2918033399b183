"""Every container killed once under load, and Valkey stopped: what callers see is what is promised."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter

from tests.stack.engine import say
from tests.stack.installation import Installation
from tests.stack.load import Load
from tests.stack.story import Caller, wait_for

#: Killing these may cost no answer at all: they are no part of a request, or requests have their fallbacks.
UNNOTICED = ("control-worker", "auth-worker", "registry-worker", "valkey", "valkey-state", "redis", "cap")
#: What answers for the paths of each; the others must not notice.
OWN_PATHS = {
    "auth": ("/auth/",),
    "control": ("/api/",),
    "registry": ("/registry/",),
    "postgres": ("/auth/", "/api/", "/registry/"),
    "proxy": ("/auth/", "/api/", "/registry/"),
}
#: What may be said while the one that answers is away: never a bare 500.
ALLOWED = {"502", "503", "504"}
_AWAY = {"ConnectError", "ReadError", "RemoteProtocolError", "WriteError", "ConnectTimeout", "ReadTimeout"}


def kill(stack: Installation, service: str) -> None:
    """Kill the container's first process, as a crash would; its restart policy brings it back."""
    name = stack.container(service)
    before = stack.engine.inspect(name)
    os.kill(before["State"]["Pid"], signal.SIGKILL)

    def back() -> bool:
        now = stack.engine.inspect(name)
        fresh = now["State"]["Pid"] not in (0, before["State"]["Pid"])
        return bool(now["State"]["Running"] and fresh and now["RestartCount"] > before["RestartCount"])

    wait_for(f"{service} is restarted", back)


def kill_each(stack: Installation, load: Load, asking: Caller) -> None:
    """One after the other; after each the whole stack answers again, and a probe runs."""
    for service in (*UNNOTICED, *OWN_PATHS):
        load.taken()
        kill(stack, service)
        if "healthcheck" in stack.services[service]:
            stack.await_condition(service, "service_healthy")
        answers = load.await_rounds(3)
        wait_for(f"only good answers after {service}", lambda: set(load.await_rounds(2)) == {"200"})
        judge(service, answers)
        wait_for(f"the agent is back after {service}", asking.online)
        _, _, ended = asking.probe(1)
        assert ended == "done", (service, ended)
        say(f"  killed {service}: {described(answers)}")


def judge(service: str, answers: Counter[str]) -> None:
    """Compare what was answered with what is promised."""
    for answer in answers:
        if answer == "200":
            continue
        status, path = answer.split(" ", 1)
        own = path.startswith(OWN_PATHS.get(service, ()))
        away = status in _AWAY and service == "proxy"
        promised = own and (status in ALLOWED or away)
        assert promised, f"killing {service}: {answer} in {dict(answers)}"


def described(answers: Counter[str]) -> str:
    return ", ".join(f"{count} × {answer}" for answer, count in sorted(answers.items()))


def without_valkey(stack: Installation, load: Load, asking: Caller) -> None:
    """Nothing restarts, requests answer through the proxy, a probe runs, /healthz says 503."""
    before = stack.restarts()
    stack.engine.podman("stop", "-t", "5", stack.container("valkey"))
    wait_for("healthz says 503", lambda: healthz(stack, "control", "8420", "/healthz")[0] == 503)
    wait_for(
        "auth's healthz says 503",
        lambda: healthz(stack, "auth", "8421", "/auth/healthz")[0] == 503,
    )
    load.taken()
    answers = load.await_rounds(6)
    assert set(answers) == {"200"}, answers
    for service in ("control", "auth", "registry", "proxy"):
        stack.await_condition(service, "service_healthy")
    after = stack.restarts()
    assert after == before, (before, after)
    say(f"  Valkey stopped: /healthz 503, requests {described(answers)}, no container restarted")
    stack.engine.podman("start", stack.container("valkey"))
    stack.await_condition("valkey", "service_healthy")
    wait_for("healthz is well again", lambda: healthz(stack, "control", "8420", "/healthz")[0] == 200)
    wait_for("the agent is online", asking.online)


def healthz(stack: Installation, service: str, port: str, path: str) -> tuple[int, dict[str, object]]:
    """From inside the container: the proxy does not publish it."""
    asked = (
        "import json,sys,urllib.request as u,urllib.error as e\n"
        f"try: r=u.urlopen('http://127.0.0.1:{port}{path}',timeout=5)\n"
        "except e.HTTPError as error: r=error\n"
        "print(json.dumps([r.status, json.loads(r.read())]))"
    )
    answer = stack.engine.podman("exec", stack.container(service), "python", "-c", asked)
    status, body = json.loads(answer)
    return status, body
