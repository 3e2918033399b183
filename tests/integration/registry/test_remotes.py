"""Registries that are reached as in the world: over TLS and over SSH, from real servers."""

from datetime import timedelta
from pathlib import Path

import pytest

from registry_server.mirror.errors import UpstreamUnavailable
from registry_server.mirror.schemas import SyncMode, SyncOutcome
from tests.integration.registry.conftest import Registries, Registry
from tests.integration.registry.git_servers import PASSWORD, USER, https_git, ssh_command, ssh_git
from tests.integration.registry.objects import FILES
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
CREDENTIALS = f"{USER}:{PASSWORD}@"


@pytest.fixture
def filled(upstream: Upstream) -> Upstream:
    upstream.commit(FILES)
    return upstream


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where git's own settings of the account stand."""
    directory = tmp_path / "home"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    return directory


def trust(home: Path, certificate: Path) -> None:
    (home / ".gitconfig").write_text(f"[http]\n\tsslCAInfo = {certificate}\n")


async def open_at(registries: Registries, upstream: Upstream, url: str, **mirror: object) -> Registry:
    return await registries.open_with(registries.settings(upstream, **{**mirror, "url": url}))


async def follow(registry: Registry, upstream: Upstream) -> None:
    """A first sync, a quiet look, and a commit more."""
    first = await registry.sync()
    assert (first.mode, first.outcome) == (SyncMode.FULL, SyncOutcome.APPLIED)
    assert await registry.raws() == {path: upstream.blobs()[path] for path in await registry.raws()}
    assert (await registry.sync()).outcome is SyncOutcome.UNCHANGED
    commit = upstream.commit({"data/mntner/NEW-MNT": b"mntner:             NEW-MNT\n"})
    more = await registry.sync()
    assert (more.mode, more.to_commit) == (SyncMode.INCREMENTAL, commit)


class TestHttps:
    async def test_is_followed_commit_by_commit(
        self, registries: Registries, filled: Upstream, tmp_path: Path, home: Path
    ) -> None:
        with https_git(tmp_path) as server:
            trust(home, server.certificate)
            registry = await open_at(registries, filled, server.url("upstream.git"))
            await follow(registry, filled)
        assert any("git-upload-pack" in line for line in server.asked)

    async def test_a_certificate_that_nobody_vouches_for_is_refused(
        self, registries: Registries, filled: Upstream, tmp_path: Path, home: Path
    ) -> None:
        del home
        with https_git(tmp_path) as server:
            registry = await open_at(registries, filled, server.url("upstream.git"))
            with pytest.raises(UpstreamUnavailable, match="certificate"):
                await registry.sync()
        assert server.asked == []

    async def test_credentials_are_taken_from_the_url_and_never_shown(
        self, registries: Registries, filled: Upstream, tmp_path: Path, home: Path
    ) -> None:
        with https_git(tmp_path, private=True) as server:
            trust(home, server.certificate)
            url = server.url("upstream.git", credentials=CREDENTIALS)
            registry = await open_at(registries, filled, url)
            await follow(registry, filled)
            wrong = await open_at(registries, filled, server.url("none.git", credentials=CREDENTIALS))
            with pytest.raises(UpstreamUnavailable) as refusal:
                await wrong.sync()
        shown = str(refusal.value.detail) + (await wrong.mirror.status()).model_dump_json()
        assert PASSWORD not in shown

    async def test_without_credentials_nobody_is_asked_for_any(
        self, registries: Registries, filled: Upstream, tmp_path: Path, home: Path
    ) -> None:
        with https_git(tmp_path, private=True) as server:
            trust(home, server.certificate)
            registry = await open_at(registries, filled, server.url("upstream.git"))
            with pytest.raises(UpstreamUnavailable):
                await registry.sync()

    async def test_a_server_that_never_answers_costs_the_time_limit_and_no_more(
        self, registries: Registries, filled: Upstream, tmp_path: Path, home: Path
    ) -> None:
        with https_git(tmp_path, slow=True) as server:
            trust(home, server.certificate)
            limit = timedelta(seconds=2)
            registry = await open_at(registries, filled, server.url("upstream.git"), time_limit=limit)
            with pytest.raises(UpstreamUnavailable, match="longer than"):
                await registry.sync()


class TestSsh:
    async def test_is_followed_commit_by_commit(
        self, registries: Registries, filled: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with ssh_git(tmp_path) as server:
            monkeypatch.setenv("GIT_SSH_COMMAND", server.command)
            await follow(await open_at(registries, filled, server.url(filled.directory)), filled)

    async def test_a_key_that_is_not_admitted_is_refused_without_a_question(
        self, registries: Registries, filled: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with ssh_git(tmp_path) as server:
            monkeypatch.setenv("GIT_SSH_COMMAND", ssh_command(tmp_path, "stranger"))
            registry = await open_at(registries, filled, server.url(filled.directory))
            with pytest.raises(UpstreamUnavailable, match="Permission denied"):
                await registry.sync()

    async def test_a_host_that_shows_another_key_is_not_talked_to(
        self, registries: Registries, filled: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with ssh_git(tmp_path) as server:
            other = (tmp_path / "stranger.pub").read_text()
            (tmp_path / "known").write_text(f"[127.0.0.1]:{server.port} {other}")
            monkeypatch.setenv("GIT_SSH_COMMAND", server.command)
            registry = await open_at(registries, filled, server.url(filled.directory))
            with pytest.raises(UpstreamUnavailable):
                await registry.sync()
