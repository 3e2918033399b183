"""`routeloom auth keys …`: the keys that sign tokens."""

from __future__ import annotations

from typing import Annotated

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.service import Audit
from auth_server.command_ground import act
from auth_server.resources import AuthResources
from auth_server.signing_keys.dependencies import key_administration, opened_keys
from auth_server.signing_keys.service import KeyAdministration
from shared.kernel.principal import SYSTEM

app = typer.Typer(no_args_is_help=True, help="The keys that sign tokens: next, current and previous.")


def _keys(resources: AuthResources, session: AsyncSession, audit: Audit) -> KeyAdministration:
    return key_administration(resources, session, opened_keys(resources), audit)


async def _print(keys: KeyAdministration) -> None:
    for key in await keys.list():
        retired = f"  retired {key.retired_at:%Y-%m-%d %H:%M}" if key.retired_at else ""
        typer.echo(
            f"{key.stage:<9} {key.algorithm:<6} {key.kid}  made {key.created_at:%Y-%m-%d %H:%M}{retired}"
        )


@app.command("list")
def list_keys() -> None:
    """Print every key; private halves are never shown."""

    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        keys = _keys(resources, session, audit)
        await keys.ring.ensure()
        await _print(keys)

    act(do)


@app.command()
def rotate(
    *,
    now: Annotated[bool, typer.Option("--now", help="Also when the next key is minutes old")] = False,
) -> None:
    """Let the published next keys sign; running workers follow by themselves, and old tokens stay good."""

    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        keys = _keys(resources, session, audit)
        await keys.rotate(SYSTEM, insist=now)
        await _print(keys)

    act(do)


# An older key's id may begin with a dash.
@app.command(context_settings={"ignore_unknown_options": True})
def retire(kid: Annotated[str, typer.Argument(help="The key's id, as `list` prints it")]) -> None:
    """Forget a key that others may have: what it signed is refused from now on."""

    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        keys = _keys(resources, session, audit)
        await keys.retire(SYSTEM, kid)
        await _print(keys)

    act(do)
