import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from routeloom.cli.stack import app
from routeloom.stack.preparation import environment_of, share_portal_secret, steps

TEMPLATES = Path(__file__).parents[4] / "docker-compose" / "acl"


def invoke(place: Path, *words: str, answer: str | None = None) -> tuple[int, str]:
    options = ["--secrets", str(place), "--templates", str(TEMPLATES)]
    done = CliRunner().invoke(app, [*words, *options], input=answer, env={"ROUTELOOM_PUBLIC_URL": ""})
    return done.exit_code, done.output


class TestInit:
    def test_a_second_start_keeps_every_password(self, tmp_path: Path) -> None:
        assert invoke(tmp_path, "init")[0] == 0
        before = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
        assert invoke(tmp_path, "init")[0] == 0
        assert {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == before

    def test_a_damaged_file_ends_it_with_69_and_a_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "init").mkdir()
        (tmp_path / "init" / "passwords.json").write_text("{")
        status, said = invoke(tmp_path, "init")
        assert status == 69
        assert "is not what was written there" in said

    def test_a_place_that_cannot_be_written_ends_it_with_69_and_a_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "init").write_text("a file")
        status, said = invoke(tmp_path, "init")
        assert status == 69
        assert "Traceback" not in said


class TestCaptcha:
    def test_the_secret_comes_from_standard_input_and_stays(self, tmp_path: Path) -> None:
        assert invoke(tmp_path, "init")[0] == 0
        public = ("--public-url", "https://loom.example")
        assert invoke(tmp_path, "captcha", "site", *public, answer="sesame\n")[0] == 0
        assert invoke(tmp_path, "init")[0] == 0
        assert '"sesame"' in (tmp_path / "auth" / "routeloom.toml").read_text()
        kept = json.loads((tmp_path / "init" / "passwords.json").read_text())
        assert kept["captcha"] == {"site_key": "site", "secret": "sesame"}

    def test_without_the_public_address_it_ends_with_2(self, tmp_path: Path) -> None:
        assert invoke(tmp_path, "captcha", "site", answer="sesame\n")[0] == 2
        assert not (tmp_path / "auth").exists()


class TestPreparation:
    def test_sign_in_comes_first_and_only_the_registry_s_first_sync_may_wait(self) -> None:
        found = list(steps())
        assert [step.service for step in found[:2]] == ["auth", "auth"]
        assert [(step.service, step.verb) for step in found if step.may_wait] == [("registry", "seed")]

    def test_each_service_is_prepared_with_its_own_file(self, tmp_path: Path) -> None:
        (tmp_path / "auth").mkdir()
        (tmp_path / "auth" / "routeloom.toml").touch()
        file = str(tmp_path / "auth" / "routeloom.toml")
        assert environment_of("auth", tmp_path)["ROUTELOOM_CONFIG"] == file
        assert environment_of("control", tmp_path).get("ROUTELOOM_CONFIG") != file

    def test_control_gets_the_portal_s_secret_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "auth" / "secrets").mkdir(parents=True)
        (tmp_path / "auth" / "secrets" / "portal-client").write_text("rlc_x\n")
        (tmp_path / "auth" / "secrets" / "seal").write_text("not for others")
        monkeypatch.setenv("ROUTELOOM_AUTH_STATE_DIRECTORY", str(tmp_path / "auth"))
        monkeypatch.setenv("ROUTELOOM_CONTROL_STATE_DIRECTORY", str(tmp_path / "control"))
        share_portal_secret()
        assert [path.name for path in (tmp_path / "control" / "secrets").iterdir()] == ["portal-client"]
