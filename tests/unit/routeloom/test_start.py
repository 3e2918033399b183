"""What the start of Lite must not wait for: libraries that it does not use by itself."""

import subprocess
import sys

import pytest

SLOW = {
    "alembic": "the newest schema is there already",
    "asyncpg": "the databases are files",
    "auth_server.app": "comes up after the portal",
    "dulwich": "nothing is cloned yet",
    "gnupg": "nobody proves anything yet",
    "hiredis": "no tier is configured",
    "mako": "Alembic's templates",
    "redis": "no tier is configured",
    "registry_server.app": "comes up after the portal",
    "valkey": "no tier is configured",
    "webauthn": "passkeys come with the sign-in service",
}
LOADED = "import sys, {module}; print(*sys.modules)"


def loaded_by(module: str) -> set[str]:
    program = [sys.executable, "-c", LOADED.format(module=module)]
    return set(subprocess.run(program, capture_output=True, text=True, check=True).stdout.split())


def test_lite_imports_nothing_that_it_does_not_need() -> None:
    loaded = loaded_by("routeloom.lite.runner")
    assert "control_server" in loaded
    assert not loaded & set(SLOW)


@pytest.mark.parametrize("module", ["routeloom.cli.main"])
def test_the_command_line_imports_no_service(module: str) -> None:
    assert not loaded_by(module) & {
        "auth_server",
        "control_server",
        "registry_server",
        "sqlalchemy",
        "fastapi",
    }
