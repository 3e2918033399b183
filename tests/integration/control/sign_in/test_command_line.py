"""`routeloom login`, the commands after it, and `routeloom logout`, as processes of their own."""

import asyncio
import json
import os
import re
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from shared.kernel.principal import Role
from tests.integration.control.sign_in.house import House, Surfer

pytestmark = [pytest.mark.asyncio(loop_scope="package"), pytest.mark.processes]


class Terminal:
    """A person's shell."""

    def __init__(self, house: House, home: Path) -> None:
        self.house, self.home = house, home

    @property
    def kept(self) -> Any:
        return json.loads((self.home / "signed-in.json").read_text())

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
        environment |= {"ROUTELOOM_HOME": str(self.home), "ROUTELOOM_URL": self.house.origin}
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "routeloom",
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**environment, "PYTHONUNBUFFERED": "1"},
        )

    async def run(self, *arguments: str) -> tuple[int, str]:
        process = await self.start(*arguments)
        said, _ = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode is not None
        return process.returncode, " ".join(said.decode().split())

    @asynccontextmanager
    async def logging_in(self) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
        """The command, waiting, and the address that it printed."""
        process = await self.start("login", "--loopback")
        assert process.stdout is not None
        printed = ""
        while not (found := re.search(r"http\S+/auth/authorize\S+", printed)):
            printed += (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
        try:
            yield process, found[0]
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def log_in(self, surfer: Surfer) -> str:
        async with self.logging_in() as (process, address):
            back = await agree(surfer, address)
            assert (await self.house.http.get(back)).status_code == 200
            said, _ = await asyncio.wait_for(process.communicate(), 60)
            assert process.returncode == 0, said
            return said.decode()


async def agree(surfer: Surfer, address: str, decision: str = "allow") -> str:
    """Answer the page of consent; answers where the browser is sent."""
    page = await surfer.get(address)
    question = page.text.split('name="request" value="')[1].split('"')[0]
    answer = await surfer.post("/auth/consent", request=question, decision=decision)
    return str(answer.headers["location"])


@pytest.fixture
def terminal(house: House, tmp_path: Path) -> Terminal:
    return Terminal(house, tmp_path / "state")


async def test_the_person_acts_by_their_role_until_they_sign_out(house: House, terminal: Terminal) -> None:
    account = await house.account(Role.VIEWER)
    said = await terminal.log_in(await house.known_there(account))
    assert f"as {account.name} (viewer)" in said
    assert stat.S_IMODE((terminal.home / "signed-in.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(terminal.home.stat().st_mode) == 0o700
    (terminal.home / "admin-token").write_text("rlp_not-this-one")
    status, said = await terminal.run("nodes", "list", "--json")
    assert (status, json.loads(said)["total"]) == (0, 0)

    before = terminal.kept[house.origin]
    kept = {house.origin: {**before, "expires_at": 0}}
    (terminal.home / "signed-in.json").write_text(json.dumps(kept))
    outcomes = await asyncio.gather(*(terminal.run("nodes", "list", "--json") for _ in range(3)))
    assert [status for status, _ in outcomes] == [0, 0, 0], "one refreshes, the others wait for it"
    after = terminal.kept[house.origin]
    assert after["refresh_token"] != before["refresh_token"]

    status, said = await terminal.run("logout")
    assert (status, said.strip()) == (0, f"Signed out of {house.origin}.")
    assert terminal.kept == {}
    answer = await house.http.post(
        after["token_endpoint"],
        data={
            "grant_type": "refresh_token",
            "refresh_token": after["refresh_token"],
            "client_id": "routeloom-cli",
        },
    )
    assert answer.status_code == 400, "the grant has ended at the server too"
    assert (await terminal.run("logout"))[0] == 1


async def test_a_sign_in_that_ended_there_says_so_once(house: House, terminal: Terminal) -> None:
    await terminal.log_in(await house.known_there(await house.account()))
    tokens = terminal.kept[house.origin]
    form = {"token": tokens["refresh_token"], "client_id": "routeloom-cli"}
    assert (await house.http.post(tokens["revocation_endpoint"], data=form)).status_code == 200
    (terminal.home / "signed-in.json").write_text(json.dumps({house.origin: {**tokens, "expires_at": 0}}))
    status, said = await terminal.run("nodes", "list")
    assert status == 1
    assert "routeloom login" in said
    assert terminal.kept == {}


async def test_only_the_answer_to_this_request_counts(house: House, terminal: Terminal) -> None:
    surfer = await house.known_there(await house.account())
    async with terminal.logging_in() as (process, address):
        good = await agree(surfer, address)
        state = re.search(r"state=([^&]+)", good)
        assert state is not None
        for bad in (
            good.replace(state[1], "x" * 43),
            good.replace("/callback", "/elsewhere"),
            re.sub(r"iss=[^&]+", "iss=https%3A%2F%2Fevil.example%2Fauth", good),
            good.split("?")[0],
        ):
            assert (await house.http.get(bad)).status_code == 400
        assert process.returncode is None
        assert (await house.http.get(good)).status_code == 200
        said, _ = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, said


async def test_whoever_declines_is_not_signed_in(house: House, terminal: Terminal) -> None:
    surfer = await house.known_there(await house.account())
    async with terminal.logging_in() as (process, address):
        await house.http.get(await agree(surfer, address, "deny"))
        said, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 1
    assert b"Not signed in" in said
    assert not (terminal.home / "signed-in.json").exists()


async def code_of(process: asyncio.subprocess.Process) -> str:
    """The code that the command shows."""
    assert process.stdout is not None
    printed = ""
    while not (found := re.search(r"user_code=([A-Z]{4}-[A-Z]{4})", printed)):
        printed += (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
    return found[1]


async def test_without_a_browser_a_code_is_confirmed_elsewhere(house: House, terminal: Terminal) -> None:
    account = await house.account(Role.OPERATOR)
    surfer = await house.known_there(account)
    process = await terminal.start("login")
    try:
        code = await code_of(process)
        assert code in (await surfer.get(f"/auth/device?user_code={code}")).text
        answer = await surfer.post("/auth/device/decision", user_code=code, decision="allow")
        assert answer.status_code == 303
        # The command asks by its own clock; the server's is turned by hand.
        said, _ = await asyncio.wait_for(process.communicate(), 60)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, said
    assert f"as {account.name} (operator)" in said.decode()
    status, said_then = await terminal.run("nodes", "list", "--json")
    assert (status, json.loads(said_then)["total"]) == (0, 0)
    assert (await terminal.run("logout"))[0] == 0


async def test_a_code_that_is_refused_signs_nobody_in(house: House, terminal: Terminal) -> None:
    surfer = await house.known_there(await house.account())
    process = await terminal.start("login", "--device")
    try:
        code = await code_of(process)
        await surfer.post("/auth/device/decision", user_code=code, decision="deny")
        said, _ = await asyncio.wait_for(process.communicate(), 60)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 1
    assert b"it was refused" in said
    assert not (terminal.home / "signed-in.json").exists()


async def test_another_name_of_the_server_is_named(house: House, terminal: Terminal) -> None:
    other = house.origin.replace("localhost", "127.0.0.1")
    status, said = await terminal.run("login", "--server", other)
    assert status == 1
    assert f"--server {house.origin}" in said
