"""The captcha is switched on as docs/operators/configure.md says: a site key, and two restarts."""

from __future__ import annotations

import httpx2

from tests.stack.engine import compose_program, say
from tests.stack.installation import URL, Installation

_SITE_KEY = "stand-in"


def switched_on(stack: Installation) -> None:
    engine = stack.engine
    files = f"-f {stack.file} -f {stack.engine.state / 'override.yaml'}"
    line = (
        f"echo made-up | {compose_program()} --env-file {stack.settings} {files}"
        f" run --rm --no-deps -T init stack captcha {_SITE_KEY}"
    )
    done = engine.shell(line)
    assert done.returncode == 0, done.stdout
    engine.podman("restart", "-t", "10", stack.container("auth"), stack.container("auth-worker"))
    stack.await_condition("auth", "service_healthy")
    token = httpx2.post(f"{URL}/cap/{_SITE_KEY}/challenge", timeout=30)
    assert token.status_code == 200, token.text
    assert httpx2.get(f"{URL}/cap/", timeout=30).status_code == 404
    recovery = httpx2.get(f"{URL}/auth/recovery", timeout=30, follow_redirects=True)
    assert f"/cap/{_SITE_KEY}/" in recovery.text, recovery.text
    say("  shown on the sign-in pages, solved through the proxy; its dashboard stays inside")
