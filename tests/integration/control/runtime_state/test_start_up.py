"""What must not serve says why in one sentence; what does not serve never looks at the URL."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from structlog.testing import capture_logs
from typer.testing import CliRunner

from control_server.app import create_app
from control_server.commands import app as control_commands
from control_server.resources import open_resources
from control_server.settings import ControlSettings
from registry_server.app import create_app as create_registry
from registry_server.commands import app as registry_commands
from registry_server.settings import RegistrySettings
from shared.runtime_state import RuntimeStateConfigurationError
from shared.web.runtime_state import check_start

SECRET = "s3cret-of-the-state"
POSTGRES = f"postgresql://routeloom:{SECRET}@127.0.0.1:1/routeloom"


def command(
    service: str, verb: str, directory: Path, database: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    prefix = f"ROUTELOOM_{service.upper()}_"
    settings = {
        f"{prefix}DATABASE__URL": database or f"sqlite:///{directory / 'service.db'}",
        f"{prefix}STATE_DIRECTORY": str(directory),
        f"{prefix}WEB__PORT": "0",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REDIS_")}
    return subprocess.run(
        [sys.executable, "-m", f"{service}_server", *verb.split()],
        env={**kept, **settings, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.processes
class TestProcess:
    @pytest.mark.parametrize(
        ("verb", "database", "variables", "reason"),
        [
            ("serve", POSTGRES, {}, "set REDIS_URL to redis://"),
            ("work", None, {"WEB_CONCURRENCY": "4"}, "WEB_CONCURRENCY asks for more"),
        ],
    )
    def test_what_cannot_serve_is_refused_in_one_sentence(
        self, verb: str, database: str | None, variables: dict[str, str], reason: str, tmp_path: Path
    ) -> None:
        refused = command("control", verb, tmp_path, database, **variables)
        assert refused.returncode == 78, refused.stderr
        assert reason in refused.stderr
        assert len(refused.stderr.strip().splitlines()) == 1
        assert SECRET not in refused.stderr

    def test_migrations_never_look_at_it(self, tmp_path: Path) -> None:
        variables = {"REDIS_URL": "nonsense://", "WEB_CONCURRENCY": "many", "REDIS_KEY_PREFIX": "{"}
        done = command("registry", "migrate", tmp_path, **variables)
        assert done.returncode == 0, done.stderr

    def test_lite_with_a_variable_for_more_processes_is_refused_in_one_sentence(self, tmp_path: Path) -> None:
        refused = subprocess.run(
            [sys.executable, "-m", "routeloom", "lite", "--port", "0", "--home", str(tmp_path / "home")],
            env={**os.environ, "WEB_CONCURRENCY": "2"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert refused.returncode == 78
        assert "WEB_CONCURRENCY" in refused.stderr
        assert len(refused.stderr.strip().splitlines()) == 1


class TestHelp:
    @pytest.mark.parametrize("app", [control_commands, registry_commands])
    def test_never_looks_at_it(self, app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REDIS_URL", "nonsense://")
        for arguments in (["--help"], ["serve", "--help"], ["migrate", "--help"]):
            assert CliRunner().invoke(app, arguments).exit_code == 0


class TestStart:
    """The check that `serve` makes before it hands over to a server, row by row."""

    @pytest.mark.parametrize(
        ("variables", "reason"),
        [
            ({"UVICORN_WORKERS": "two"}, "UVICORN_WORKERS is not a number"),
            ({"UVICORN_WORKERS": "2"}, "UVICORN_WORKERS asks for more"),
            ({"REDIS_URL": f"amqp://:{SECRET}@h"}, "must begin with redis://"),
            ({"REDIS_URL": "memory://"}, "REDIS_URL"),
            ({"REDIS_URL": "memory:///lite"}, "REDIS_URL"),
            ({"REDIS_URL": "redis://"}, "REDIS_URL"),
            ({"REDIS_KEY_PREFIX": "a b"}, "REDIS_KEY_PREFIX"),
        ],
    )
    def test_refuses(
        self, variables: dict[str, str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        common = {"database": {"url": f"sqlite:///{tmp_path / 'x.db'}"}, "state_directory": tmp_path}
        for settings in (ControlSettings.model_validate(common), RegistrySettings.model_validate(common)):
            with pytest.raises(RuntimeStateConfigurationError, match=reason) as refusal:
                check_start(settings)
            assert SECRET not in str(refusal.value)


class TestLifespan:
    async def test_refuses_what_the_command_refuses(self, tmp_path: Path) -> None:
        settings = ControlSettings.model_validate(
            {
                "database": {"url": POSTGRES},
                "state_directory": tmp_path,
                "runtime_state": {"url": "memory://lite"},
            }
        )
        app = create_app(settings)
        with pytest.raises(RuntimeStateConfigurationError, match="single process on SQLite"):
            async with app.router.lifespan_context(app):
                pass

    def test_building_an_application_looks_at_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("REDIS_URL", "nonsense://")
        common = {"database": {"url": POSTGRES}, "state_directory": tmp_path}
        assert create_app(ControlSettings.model_validate(common)).title
        assert create_registry(RegistrySettings.model_validate(common)).title

    async def test_says_once_what_serves_and_no_secret(self, tmp_path: Path) -> None:
        settings = ControlSettings.model_validate(
            {
                "database": {"url": f"sqlite:///{tmp_path / 'control.db'}"},
                "state_directory": tmp_path,
                "runtime_state": {"url": f"redis://:{SECRET}@127.0.0.1:1/7", "key_prefix": "planted-key:"},
            }
        )
        with capture_logs() as logs:
            async with open_resources(settings):
                pass
        started = [entry for entry in logs if entry["event"] == "runtime_state.startup"]
        assert len(started) == 1
        assert (started[0]["backend"], started[0]["ephemeral"], started[0]["single_process"]) == (
            "redis",
            False,
            False,
        )
        assert SECRET not in str(logs)
        assert "planted-key" not in str(logs)

    def test_the_variables_have_the_names_that_the_adapter_fixes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in (
            ("REDIS_URL", "redis://127.0.0.1:1/7"),
            ("REDIS_KEY_PREFIX", "mine:"),
            ("RUNTIME_ARTIFACT_SWEEP_INTERVAL_SECONDS", "7"),
            ("RUNTIME_STATE_MEMORY_MAX_BYTES", "1000"),
            ("RUNTIME_STATE_MEMORY_MAX_ITEM_BYTES", "100"),
            ("runtime_preview_artifact_ttl_seconds", "60"),
        ):
            monkeypatch.setenv(name, value)
        common = {"database": {"url": POSTGRES}, "state_directory": tmp_path}
        state = ControlSettings.model_validate(common).runtime_state
        assert state.url.get_secret_value() == "redis://127.0.0.1:1/7"
        assert (state.key_prefix, state.sweep_interval_seconds) == ("mine:", 7)
        assert (state.memory_max_bytes, state.memory_max_item_bytes) == (1000, 100)
        assert state.preview_ttl_seconds == 60
