"""The command line of auth_server: `routeloom auth …` and `python -m auth_server …`."""

from __future__ import annotations

from auth_server.app import create_app
from auth_server.settings import AuthSettings
from auth_server.worker import work
from shared.web.commands import Service, commands


async def seed(settings: AuthSettings) -> None:
    """Nothing is needed before the first account."""
    del settings


SERVICE = Service(
    name="auth",
    package="auth_server",
    load=AuthSettings,
    create_app=create_app,
    work=work,
    seed=seed,
)
app = commands(SERVICE)


def main() -> None:
    """Entry point of `python -m auth_server`."""
    app(prog_name="python -m auth_server")
