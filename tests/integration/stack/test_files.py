"""What can be seen of the stack without starting it."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from registry_server.mirror.schemas import MirrorSettings
from registry_server.roas.schemas import RoaSettings
from registry_server.settings import RegistrySettings
from tests.stack.engine import COMPOSE, ROOT
from tests.stack.runbook import commands

OURS = {"init", "migrate", "control", "control-worker", "auth", "auth-worker", "registry", "registry-worker"}
ONE_SHOT = {"init", "migrate"}
#: The operating commands of the key index; each stands in the runbook as it stands there.
KEY_INDEX = (
    "sudo docker exec docker-compose-valkey-1 valkey-cli info keyspace",
    "sudo docker exec docker-compose-redis-1 redis-cli info keyspace",
    "sudo docker exec docker-compose-valkey-1 valkey-cli -n 1 --scan --pattern 'pflap:*'",
    "sudo docker exec docker-compose-valkey-1 valkey-cli info memory | grep -E 'used_memory_human|maxmemory'",
    "sudo docker exec docker-compose-redis-1 redis-cli info stats | grep evicted_keys",
    "sudo docker exec docker-compose-redis-1 redis-cli -n 1 FLUSHDB",
)


def described(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((COMPOSE / name).read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def full() -> dict[str, Any]:
    return described("compose.yaml")


@pytest.fixture(scope="module")
def services(full: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return dict(full["services"])


class TestCompose:
    def test_its_containers_have_the_names_of_the_runbook(self, full: dict[str, Any]) -> None:
        assert full["name"] == "docker-compose"
        assert {"valkey", "redis", "valkey-state"} <= set(full["services"])

    def test_every_container_is_hardened_and_bounded(self, services: dict[str, dict[str, Any]]) -> None:
        lite = described("compose.lite.yaml")["services"]
        for name, service in (services | lite).items():
            assert service["read_only"] is True, name
            assert service["cap_drop"] == ["ALL"], name
            assert service["security_opt"] == ["no-new-privileges:true"], name
            assert service["mem_limit"], name
            assert service["pids_limit"], name
            assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}, name
            assert "privileged" not in service, name

    def test_only_the_one_that_makes_secrets_is_root(self, services: dict[str, dict[str, Any]]) -> None:
        assert [name for name in OURS if services[name].get("user") == "0:0"] == ["init"]
        assert services["init"]["network_mode"] == "none"

    def test_no_variable_holds_a_password(self, services: dict[str, dict[str, Any]]) -> None:
        for name, service in services.items():
            for variable, value in (service.get("environment") or {}).items():
                secret = re.search(r"PASSWORD|SECRET|ADMIN_KEY|REDIS_URL", variable)
                assert not secret or variable.endswith("_FILE"), (name, variable)
                assert not re.search(r"://[^/]*:[^/]*@", str(value)), (name, variable)

    def test_each_container_mounts_the_secrets_of_one_service(
        self, services: dict[str, dict[str, Any]]
    ) -> None:
        for name, service in services.items():
            mounted = {
                volume.split(":")[0] for volume in service.get("volumes", []) if volume.startswith("secrets-")
            }
            assert name in ONE_SHOT or len(mounted) <= 1, name
            writable = [
                volume
                for volume in service.get("volumes", [])
                if volume.startswith("secrets-") and not volume.endswith(":ro")
            ]
            assert not writable or name == "init", name

    def test_only_proxy_whois_and_rtr_are_published(self, services: dict[str, dict[str, Any]]) -> None:
        published = {name: service["ports"] for name, service in services.items() if "ports" in service}
        assert set(published) == {"proxy", "registry", "cap"}
        assert all(port.startswith("127.0.0.1:") for port in published["cap"])
        assert [port.rsplit(":", 1)[1] for port in published["registry"]] == ["4343", "8282"]

    def test_stores_are_on_a_network_without_a_way_out(
        self, full: dict[str, Any], services: dict[str, dict[str, Any]]
    ) -> None:
        assert full["networks"]["data"]["internal"] is True
        for name in ("postgres", "valkey", "valkey-state", "redis"):
            assert services[name]["networks"] == ["data"]
        assert "data" not in services["proxy"]["networks"]

    def test_containers_ask_livez_which_never_waits_for_a_tier(
        self, services: dict[str, dict[str, Any]]
    ) -> None:
        for name in ("control", "auth", "registry"):
            assert services[name]["healthcheck"]["test"][-1].endswith("/livez")
        assert "healthz" not in str(services)

    def test_nothing_starts_before_what_it_needs(self, services: dict[str, dict[str, Any]]) -> None:
        completed = {"condition": "service_completed_successfully"}
        healthy = {"condition": "service_healthy"}
        for name in OURS - ONE_SHOT:
            assert services[name]["depends_on"] == {"migrate": completed}, name
        stores = ("postgres", "valkey", "valkey-state", "redis")
        assert services["migrate"]["depends_on"] == dict.fromkeys(stores, healthy)
        for name in stores:
            assert services[name]["depends_on"] == {"init": completed}, name

    def test_a_tier_that_is_gone_restarts_nothing(self, services: dict[str, dict[str, Any]]) -> None:
        for name in OURS - ONE_SHOT:
            assert services[name]["restart"] == "unless-stopped"
            assert "restart: true" not in str(services[name].get("depends_on"))


class TestTheEnvironment:
    def test_the_example_names_only_what_the_files_read(self) -> None:
        files = "".join((COMPOSE / name).read_text() for name in ("compose.yaml", "compose.lite.yaml"))
        read = set(re.findall(r"\$\{([A-Z_]+)", files))
        named = set(re.findall(r"^#?([A-Z_]+)=", (COMPOSE / ".env.example").read_text(), re.MULTILINE))
        assert named <= read

    def test_the_page_of_settings_has_every_variable(self) -> None:
        files = "".join((COMPOSE / name).read_text() for name in ("compose.yaml", "compose.lite.yaml"))
        page = (ROOT / "docs/operators/configure.md").read_text()
        assert [name for name in set(re.findall(r"\$\{([A-Z_]+)", files)) if f"`{name}`" not in page] == []

    def test_the_registry_understands_what_it_is_handed_and_by_default_nothing_changes(
        self, services: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        given = {
            "ROUTELOOM_HOST": "loom.example",
            "ROUTELOOM_WHOIS_PUBLIC_HOST": "whois.loom.example",
            "ROUTELOOM_SHARED_MAINTAINERS": '["DN42-MNT"]',
        }
        handed = services["registry"]["environment"]
        plain, told = (
            registry_of(handed, {**given, **more}, monkeypatch, tmp_path)
            for more in ({name: "" for name in given if name != "ROUTELOOM_HOST"}, {})
        )
        assert (told.whois.public_host, told.shared_maintainers) == ("whois.loom.example", ("DN42-MNT",))
        usual = MirrorSettings()
        assert (plain.mirror.branch, plain.mirror.interval) == (usual.branch, usual.interval)
        assert plain.shared_maintainers == RegistrySettings.model_fields["shared_maintainers"].default
        assert plain.roas == RoaSettings()
        assert (plain.whois.source, plain.whois.public_host) == ("DN42", "")
        assert (plain.whois.port, plain.rtr.port) == (4343, 8282)


def registry_of(
    handed: dict[str, str], given: dict[str, str], monkeypatch: pytest.MonkeyPatch, directory: Path
) -> RegistrySettings:
    """The settings of the service, with the variables that its container gets."""
    with monkeypatch.context() as patch:
        for name, text in handed.items():
            patch.setenv(name, filled_in(text, given))
        patch.delenv("ROUTELOOM_CONFIG")
        patch.setenv("ROUTELOOM_REGISTRY_DATABASE__URL", f"sqlite:///{directory}/registry.db")
        return RegistrySettings()


def filled_in(text: str, given: dict[str, str]) -> str:
    """The text with its variables, innermost first; an empty one gets its default."""
    while found := re.search(r"\$\{([A-Z_]+)(?::[-?]([^${}]*))?\}", text):
        text = text.replace(found[0], given.get(found[1]) or found[2] or "")
    return text


class TestDockerfile:
    def test_it_is_staged_and_its_base_is_an_argument(self) -> None:
        text = (COMPOSE / "Dockerfile").read_text()
        assert re.findall(r"^FROM (\S+) AS (\w+)$", text, re.MULTILINE) == [
            ("${BASE}", "build"),
            ("${BASE}", "run"),
        ]

    def test_the_last_stage_has_no_compiler_no_node_and_no_root(self) -> None:
        last = (COMPOSE / "Dockerfile").read_text().split(" AS run\n")[1]
        assert not re.search(r"\b(gcc|build-essential|nodejs|npm|pip install)\b", last)
        assert re.findall(r"^USER (.*)$", last, re.MULTILINE) == ["10001:10001"]

    def test_the_context_leaves_secrets_and_builds_out(self) -> None:
        lines = (ROOT / ".dockerignore").read_text().splitlines()
        assert lines[0] == "*"
        assert not [line for line in lines if line.startswith("!") and "docker-compose" in line]


class TestTheRunbook:
    @pytest.mark.parametrize("line", KEY_INDEX)
    def test_it_has_the_commands_of_the_key_index_word_for_word(self, line: str) -> None:
        assert line in [command.strip() for command in commands()]


@pytest.mark.parametrize("path", sorted((COMPOSE / "cli").iterdir()), ids=lambda path: path.name)
def test_scripts_are_sound_and_executable(path: Path) -> None:
    assert path.stat().st_mode & 0o111 == 0o111
    subprocess.run(["sh", "-n", str(path)], check=True)
