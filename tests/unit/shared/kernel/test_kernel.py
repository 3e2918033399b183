"""Errors, secrets, principals, files, loops."""

import asyncio
import contextlib
import stat
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.errors import AppError, Kind
from shared.kernel.files import make_private_directory, write_private
from shared.kernel.ids import short_id
from shared.kernel.loops import Loop, running
from shared.kernel.principal import SCOPES_OF_ROLE, Principal, PrincipalKind, Role, Scope
from shared.kernel.secrets import digest_of, identify, matches, mint, redact
from shared.testing.waiting import wait_until


class Taken(AppError):
    """The name is taken.

    Never shown: this paragraph is for readers of the code.
    """

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "taken"


def test_a_refusal_says_the_first_paragraph_of_its_docstring() -> None:
    assert Taken().detail == "The name is taken."
    assert Taken("fra1 is taken.").detail == "fra1 is taken."


@pytest.mark.parametrize("prefix", ["rle", "rlg", "rlp", "rls"])
def test_a_secret_is_known_by_its_form_and_found_by_its_hash(prefix: str) -> None:
    secret = mint(prefix)
    assert identify(secret.text, prefix) == secret.id
    assert identify(secret.text, "rlx") is None
    assert digest_of(secret.text) == secret.digest
    assert matches(secret.text, secret.digest)
    assert not matches(secret.text + "x", secret.digest)
    assert secret.text not in repr(secret)


@given(st.text())
def test_redacting_hides_every_secret_and_keeps_the_rest(around: str) -> None:
    secret = mint("rlg")
    shown = redact(f"{around} {secret.text} {around}")
    assert secret.text not in shown
    assert f"rlg_{secret.id}_[redacted]" in shown


@given(st.text())
def test_no_text_breaks_identification(text: str) -> None:
    assert identify(text, "rlg") is None or text.startswith("rlg_")


def test_ids_are_readable_aloud() -> None:
    assert not set("".join(short_id(64) for _ in range(50))) & set("aeiou01lOI_")


def test_roles_include_one_another() -> None:
    assert SCOPES_OF_ROLE[Role.VIEWER] < SCOPES_OF_ROLE[Role.OPERATOR] < SCOPES_OF_ROLE[Role.ADMIN]


def test_a_token_never_exceeds_its_owners_role() -> None:
    greedy = Principal("x", PrincipalKind.PERSON, "x", Role.VIEWER, frozenset(Scope))
    assert greedy.may(Scope.FLEET_READ)
    assert not greedy.may(Scope.FLEET_WRITE)
    narrow = Principal("x", PrincipalKind.PERSON, "x", Role.ADMIN, frozenset({Scope.FLEET_READ}))
    assert not narrow.may(Scope.ACCESS_ADMIN)
    assert not Principal("x", PrincipalKind.AGENT, "x").may(Scope.FLEET_READ)


def test_a_private_file_is_whole_and_private(tmp_path: Path) -> None:
    make_private_directory(tmp_path / "a" / "b")
    target = tmp_path / "a" / "b" / "token"
    write_private(target, "one")
    write_private(target, "two")
    assert target.read_text() == "two"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
    assert [each.name for each in target.parent.iterdir()] == ["token"]


class Watcher:
    def __init__(self) -> None:
        self.ends: list[str] = []

    def finished(self, name: str, seconds: float) -> None:
        self.ends.append("finished")

    def failed(self, name: str, error: BaseException) -> None:
        self.ends.append(type(error).__name__)


async def test_a_loop_goes_on_after_errors_and_overruns_and_ends_with_its_owner() -> None:
    watcher = Watcher()
    passes = 0

    async def work() -> None:
        nonlocal passes
        passes += 1
        if passes == 1:
            raise ZeroDivisionError
        if passes == 2:
            await asyncio.Event().wait()

    loop = Loop("test", work, interval=timedelta(0), time_limit=timedelta(milliseconds=50))
    async with running([loop], watcher):
        await wait_until(lambda: len(watcher.ends) >= 4)
    assert watcher.ends[:4] == ["ZeroDivisionError", "TimeoutError", "finished", "finished"]
    seen = passes
    await asyncio.sleep(0)
    assert passes == seen


async def test_a_loop_ends_although_a_library_lost_its_cancellation() -> None:
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async with asyncio.timeout(20), running([Loop("test", work, interval=timedelta(0))], Watcher()):
        await begun.wait()


@pytest.mark.parametrize(("leaves_within", "cut_short"), [(60.0, False), (0.01, True)])
async def test_a_pass_may_take_its_time_to_leave(leaves_within: float, cut_short: bool) -> None:
    begun, left, again = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            asyncio.get_running_loop().call_later(0.2, left.set)
            try:
                await left.wait()
            except asyncio.CancelledError:
                again.set()
                raise

    loop = Loop("test", work, timedelta(0), leaves_within=timedelta(seconds=leaves_within))
    async with running([loop], Watcher()):
        await begun.wait()
    assert again.is_set() is cut_short
