"""Which registry Lite mirrors, and how the command line learns of it."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from registry_server.settings import RegistrySettings
from routeloom.cli import jobs, services
from routeloom.cli.services import lend_settings
from routeloom.lite.configuration import Addresses, lite_settings
from routeloom.lite.home import Home

URL = "ROUTELOOM_REGISTRY_MIRROR__URL"
_HERE = Addresses("http://localhost:8420", "http://localhost:8420")


def registry_of(home: Home) -> RegistrySettings:
    return lite_settings(home, _HERE, "ERROR").registry()


class TestUpstream:
    def test_is_made_up_where_nothing_is_said(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv(URL, raising=False)
        found = registry_of(Home(tmp_path))
        assert found.follows_sample
        assert found.mirror.url is not None
        assert found.mirror.url.get_secret_value() == str(tmp_path / "registry-sample")

    def test_is_the_one_that_a_variable_names(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv(URL, "https://git.example/registry.git")
        found = registry_of(Home(tmp_path))
        assert found.mirror.url is not None
        assert found.mirror.url.get_secret_value() == "https://git.example/registry.git"
        assert not found.follows_sample

    def test_is_none_where_the_variable_is_empty(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv(URL, "")
        found = registry_of(Home(tmp_path))
        assert (found.mirror.url, found.follows_sample) == (None, False)


class TestLendSettings:
    @pytest.mark.parametrize(
        "case",
        [
            ("/srv/registry.git\n", None, "/srv/registry.git"),
            ("\n", None, ""),
            ("/srv/registry.git\n", "/srv/other.git", "/srv/other.git"),
            (None, None, None),
        ],
    )
    def test_the_command_line_follows_what_the_server_follows(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        case: tuple[str | None, str | None, str | None],
    ) -> None:
        written, given, lent = case
        home = Home(tmp_path)
        (tmp_path / "registry.db").touch()
        if written is not None:
            home.upstream.write_text(written)
        environment = {} if given is None else {URL: given}
        monkeypatch.setattr(services, "os", SimpleNamespace(environ=environment))
        lend_settings("registry", home)
        assert environment.get(URL) == lent


class TestJobsStart:
    @pytest.mark.parametrize(("options", "body"), [([], None), (["--force"], {"force": True})])
    def test_says_whether_by_force(
        self, monkeypatch: pytest.MonkeyPatch, options: list[str], body: dict[str, bool] | None
    ) -> None:
        asked: list[tuple[object, ...]] = []

        def ask(*question: object) -> dict[str, str]:
            asked.append(question)
            return {"job_id": "one"}

        monkeypatch.setattr(jobs, "_ask", ask)
        done = CliRunner().invoke(jobs.app, ["start", "registry.sync", *options])
        assert done.stdout == "one\n"
        assert asked == [(None, "POST", "/api/v1/jobs/kinds/registry.sync/start", body)]
