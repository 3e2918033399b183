"""The service by its own command line, on SQLite."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from registry_server.commands import app, seed
from registry_server.samples.schemas import Manifest
from registry_server.samples.service import MANIFEST
from registry_server.settings import RegistrySettings
from shared.testing.servers.ports import free_loopback_port
from tests.integration.registry.objects import END
from tests.integration.registry.upstream import Upstream

ROOT = Path(__file__).parents[3]
COMMAND = (sys.executable, "-m", "registry_server")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "ROUTELOOM_REGISTRY_DATABASE__URL": f"sqlite:///{tmp_path}/registry.db",
        "ROUTELOOM_REGISTRY_STATE_DIRECTORY": str(tmp_path),
        "ROUTELOOM_REGISTRY_MIRROR__URL": str(tmp_path / "registry-sample"),
        "ROUTELOOM_REGISTRY_WEB__PORT": str(free_loopback_port()),
    }


async def answered(url: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as client, asyncio.timeout(30):
        while True:
            try:
                return await client.get(url)
            except httpx2.TransportError:
                await asyncio.sleep(0.05)


async def test_what_seed_made_is_served(
    environment: dict[str, str], tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(sqlite_template, tmp_path / "registry.db")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    await seed(RegistrySettings())
    manifest = Manifest.model_validate_json((tmp_path / "registry-sample" / MANIFEST).read_text())
    process = await asyncio.create_subprocess_exec(*COMMAND, "serve", cwd=ROOT, env=environment)
    try:
        base = f"http://127.0.0.1:{environment['ROUTELOOM_REGISTRY_WEB__PORT']}/registry/api/v1"
        status = json.loads((await answered(f"{base}/status")).content)
        assert (status["commit"], status["counts"]["objects"]) == (manifest.head, manifest.objects)
    finally:
        process.send_signal(signal.SIGTERM)
        assert await process.wait() in {0, -signal.SIGTERM}


def test_generate_writes_a_sample_that_git_can_clone(tmp_path: Path) -> None:
    options = ["--objects", "120", "--commits", "8", str(tmp_path / "made")]
    done = CliRunner().invoke(app, ["generate", *options])
    assert done.exit_code == 0, done.output
    subprocess.run(["git", "clone", "--quiet", tmp_path / "made", tmp_path / "clone"], check=True)
    assert (tmp_path / "clone" / "data" / "mntner" / "DN42-MNT").exists()


def test_check_names_every_planted_problem_by_file_and_line(sample: tuple[Upstream, Manifest]) -> None:
    upstream, manifest = sample
    done = CliRunner().invoke(app, ["check", str(upstream.directory)])
    assert done.exit_code == 1
    found = sorted(
        (line.split(": ", 1)[0], line.rsplit("[", 1)[1].rstrip("]"))
        for line in done.stdout.splitlines()
        if line.endswith("]")
    )
    planted = sorted(
        (each.path if each.line is None else f"{each.path}:{each.line}", each.code)
        for each in manifest.planted
    )
    assert found == planted


def test_check_shows_only_what_is_grave_when_asked(sample: tuple[Upstream, Manifest]) -> None:
    done = CliRunner().invoke(app, ["check", "--severity", "error", str(sample[0].directory)])
    assert ": error: " in done.stdout
    assert ": notice: " not in done.stdout


def test_check_is_content_with_a_registry_without_mistakes(upstream: Upstream) -> None:
    upstream.commit({"data/mntner/FOO-MNT": f"mntner:             FOO-MNT\n{END}".encode()})
    done = CliRunner().invoke(app, ["check", str(upstream.directory)])
    assert (done.exit_code, done.stdout.strip()) == (0, "")


def test_check_writes_the_same_as_json(sample: tuple[Upstream, Manifest]) -> None:
    upstream, manifest = sample
    done = CliRunner().invoke(app, ["check", "--json", str(upstream.directory)])
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert sorted((each["path"], each["code"], each["line"] or 0) for each in found["problems"]) == sorted(
        (each.path, each.code, each.line or 0) for each in manifest.planted
    )
    assert sum(found["counts"].values()) == len(manifest.planted)
    assert all(each["detail"] for each in found["problems"])


def test_policy_judges_what_lies_between_two_commits(upstream: Upstream) -> None:
    upstream.commit({"data/mntner/FOO-MNT": f"mntner:             FOO-MNT\n{END}".encode()})
    upstream.git("branch", "before", "master")
    upstream.commit({"data/mntner/FOO-MNT": f"mntner:             FOO-MNT\nremarks: x\n{END}".encode()})
    asked = ["policy", str(upstream.directory), "before", "--revision", "master", "--mntner"]
    allowed = CliRunner().invoke(app, [*asked, "foo-mnt"])
    assert (allowed.exit_code, allowed.stdout) == (0, "")
    refused = CliRunner().invoke(app, [*asked, "BAR-MNT"])
    assert refused.exit_code == 1
    assert refused.stdout == "data/mntner/FOO-MNT: FOO-MNT is maintained by others [policy_not_yours]\n"


def test_check_names_the_repository_that_it_cannot_read(
    tmp_path: Path, sample: tuple[Upstream, Manifest]
) -> None:
    done = CliRunner().invoke(app, ["check", str(tmp_path)])
    assert f"{tmp_path} at HEAD cannot be read: fatal: not a git repository" in done.output
    done = CliRunner().invoke(app, ["check", str(sample[0].directory), "--revision", "nope"])
    assert f"{sample[0].directory} at nope cannot be read" in done.output


def test_check_runs_nothing_that_the_repository_asks_for(upstream: Upstream, tmp_path: Path) -> None:
    """A part of a repository names where the rest is, and a program that fetches it."""
    upstream.commit({"data/mntner/FOO-MNT": f"mntner:             FOO-MNT\n{END}".encode()})
    blob = upstream.git("rev-parse", "HEAD:data/mntner/FOO-MNT").strip()
    part = Upstream(tmp_path / "part.git")
    shutil.copytree(upstream.directory, part.directory)
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": str(upstream.directory),
        "remote.origin.uploadpack": f"touch {tmp_path}/ran; git-upload-pack",
    }.items():
        part.git("config", name, value)
    without(part, blob)
    done = CliRunner().invoke(app, ["check", str(part.directory)])
    assert done.exit_code != 0
    assert not (tmp_path / "ran").exists()
    # As git itself would have done.
    assert part.git("cat-file", "blob", blob).startswith("mntner:")
    assert (tmp_path / "ran").exists()


def test_check_takes_a_revision_for_nothing_else(upstream: Upstream) -> None:
    upstream.commit({"data/mntner/FOO-MNT": f"mntner:             FOO-MNT\n{END}".encode()})
    done = CliRunner().invoke(app, ["check", str(upstream.directory), "--revision=--name-only"])
    assert "Not a valid object name --name-only" in done.output


def without(repository: Upstream, blob: str) -> None:
    """Take one object away."""
    packs = list((repository.directory / "objects" / "pack").glob("*.pack"))
    for pack in packs:
        moved = pack.rename(repository.directory / pack.name)
        pack.with_suffix(".idx").unlink()
        with moved.open("rb") as packed:
            command = ["git", "-C", str(repository.directory), "unpack-objects", "-q"]
            subprocess.run(command, stdin=packed, check=True)
    (repository.directory / "objects" / blob[:2] / blob[2:]).unlink()


def test_check_holds_objects_against_the_schemas_among_them(upstream: Upstream) -> None:
    end = "mnt-by:             FOO-MNT\nsource:             DN42\n"
    key = "key:                "
    upstream.commit(
        {
            "data/mntner/FOO-MNT": f"mntner:             FOO-MNT\n{end}".encode(),
            "data/schema/PERSON-SCHEMA": (
                f"schema:             PERSON-SCHEMA\nref:                dn42.person\n"
                f"{key}person required single schema\n{key}nic-hdl required single primary\n"
                f"{key}mnt-by required multiple\n{key}source required single\n{end}"
            ).encode(),
            "data/person/FOO-DN42": (
                f"person:             Foo\nnic-hdl:            FOO-DN42\nnick:               foo\n{end}"
            ).encode(),
        }
    )
    done = CliRunner().invoke(app, ["check", str(upstream.directory)])
    assert done.exit_code == 0
    assert done.stdout == (
        "data/person/FOO-DN42:3: warning: nick is no attribute of person; write x-nick for one of your own"
        " [unknown_attribute]\n"
    )
