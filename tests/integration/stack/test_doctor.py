"""The doctor before real servers, with one thing wrong at a time."""

import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from control_server.settings import ControlSettings
from registry_server.settings import RegistrySettings
from routeloom.doctor import databases, deployment, host, persistence, published, tiers
from routeloom.doctor.deployment import Deployment, Settings
from routeloom.doctor.examination import examine
from routeloom.doctor.findings import Finding, Grade
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.testing.servers import PostgresServer
from shared.testing.servers.ports import free_loopback_port
from tests.integration.stack.kv import ListedServer, listed_server
from tests.stack.engine import COMPOSE


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ListedServer]:
    with listed_server("valkey", tmp_path_factory.mktemp("doctor") / "valkey") as server:
        yield server


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ListedServer]:
    with listed_server("valkey-state", tmp_path_factory.mktemp("doctor") / "state") as server:
        yield server


@pytest.fixture(scope="module")
def redis_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ListedServer]:
    with listed_server("redis", tmp_path_factory.mktemp("doctor") / "redis") as server:
        yield server


@pytest.fixture
async def database_url(postgres: PostgresServer) -> AsyncIterator[str]:
    with postgres.database() as url:
        yield url


def control(directory: Path, **groups: Any) -> Deployment:
    settings = ControlSettings.model_validate(
        {
            "database": {"url": f"sqlite:///{directory / 'control.db'}"},
            "state_directory": directory,
            "web": {"port": 0},
        }
        | groups
    )
    return Deployment({"control": settings})


def graded(findings: list[Finding], check: str) -> list[Grade]:
    return [each.grade for each in findings if each.check == check]


def problems(findings: list[Finding]) -> list[Finding]:
    found = [each for each in findings if each.grade is Grade.PROBLEM]
    assert all(each.remedy for each in found), "each comes with what mends it"
    return found


class TestTiers:
    async def test_it_is_content_with_the_shipped_servers(
        self, tmp_path: Path, valkey: ListedServer, state: ListedServer, redis_cache: ListedServer
    ) -> None:
        valkey.say("cap", "hset", "settings:rsw_keypair", "key", "without an end, as the captcha has them")
        found = await tiers.look_at_tiers(
            control(
                tmp_path,
                kv={"url": valkey.url("control", 1)},
                cache={"url": redis_cache.url("control", 1)},
                durable={"url": state.url("control", 1)},
                runtime_state={"url": state.url("control", 0)},
            ),
            state_may_share=False,
        )
        assert problems(found) == []
        for check in ("reachability", "versions", "policy", "keys_without_ttl", "instances"):
            assert Grade.GOOD in graded(found, check), check

    async def test_a_key_without_an_end_is_found_where_it_is_ours(
        self, tmp_path: Path, valkey: ListedServer
    ) -> None:
        valkey.say("control", "set", "probe:job:leak", "1", database=1)
        found = await tiers.look_at_tiers(
            control(tmp_path, kv={"url": valkey.url("control", 1)}), state_may_share=False
        )
        valkey.say("control", "del", "probe:job:leak", database=1)
        (one,) = problems(found)
        assert (one.check, "1 keys of database 1" in one.text) == ("keys_without_ttl", True)

    async def test_runtime_state_and_jobs_on_the_captcha_s_server_are_refused_unless_told(
        self, tmp_path: Path, valkey: ListedServer
    ) -> None:
        shared = control(
            tmp_path,
            kv={"url": valkey.url("control", 1)},
            durable={"url": valkey.url("control", 4)},
            runtime_state={"url": valkey.url("control", 3)},
        )
        found = problems(await tiers.look_at_tiers(shared, state_may_share=False))
        assert [each.check for each in found] == ["instances", "instances"]
        told = await tiers.look_at_tiers(shared, state_may_share=True)
        assert problems(told) == []
        assert graded(told, "instances") == [Grade.NOTE, Grade.NOTE]

    async def test_exchanged_servers_are_found_by_their_policies(
        self, tmp_path: Path, valkey: ListedServer, redis_cache: ListedServer
    ) -> None:
        found = problems(
            await tiers.look_at_tiers(
                control(
                    tmp_path,
                    kv={"url": redis_cache.url("control", 1)},
                    cache={"url": valkey.url("control", 1)},
                ),
                state_may_share=False,
            )
        )
        found = [each for each in found if each.check == "policy"]
        assert len(found) == 2
        assert "CONFIG SET maxmemory-policy noeviction" in found[0].remedy
        assert "CONFIG SET maxmemory-policy allkeys-lru" in found[1].remedy

    @pytest.mark.parametrize("what", ["away", "password"])
    async def test_one_that_does_not_answer_says_why_and_shows_no_password(
        self, tmp_path: Path, valkey: ListedServer, what: str
    ) -> None:
        url = f"redis://control:sesame@127.0.0.1:{free_loopback_port() if what == 'away' else valkey.port}/1"
        (one,) = problems(
            await tiers.look_at_tiers(control(tmp_path, kv={"url": url}), state_may_share=False)
        )
        assert one.check == "reachability"
        assert "sesame" not in f"{one}"


class TestPersistence:
    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        folder = tmp_path / "files"
        folder.mkdir()
        for name in ("valkey.conf", "valkey-state.conf", "compose.yaml"):
            (folder / name).write_text((COMPOSE / name).read_text())
        return folder

    async def look(self, tmp_path: Path, valkey: ListedServer, files: Path) -> list[Finding]:
        found = control(tmp_path, kv={"url": valkey.url("control", 1)})
        return await persistence.look_at_persistence(Deployment(found.services, files))

    async def test_the_shipped_files_are_good(
        self, tmp_path: Path, valkey: ListedServer, files: Path
    ) -> None:
        assert problems(await self.look(tmp_path, valkey, files)) == []

    async def test_the_trap_is_found_in_the_file_before_a_restart(
        self, tmp_path: Path, valkey: ListedServer, files: Path
    ) -> None:
        file = files / "valkey.conf"
        file.write_text(file.read_text().replace("appendonly no", "appendonly yes"))
        (one,) = problems(await self.look(tmp_path, valkey, files))
        assert "CONFIG SET appendonly yes" in one.remedy

    async def test_and_in_the_command_of_the_container(
        self, tmp_path: Path, valkey: ListedServer, files: Path
    ) -> None:
        file = files / "compose.yaml"
        file.write_text(file.read_text().replace("--dir, /data,", "--dir, /data, --appendonly, yes,", 1))
        (one,) = problems(await self.look(tmp_path, valkey, files))
        assert "compose.yaml" in one.text

    async def test_after_the_safe_order_the_same_file_is_good(
        self, tmp_path: Path, valkey: ListedServer, files: Path
    ) -> None:
        file = files / "valkey.conf"
        file.write_text(file.read_text().replace("appendonly no", "appendonly yes"))
        assert valkey.say("maintenance", "config", "set", "appendonly", "yes").text == "OK"
        try:
            assert problems(await self.look(tmp_path, valkey, files)) == []
        finally:
            valkey.say("maintenance", "config", "set", "appendonly", "no")


class TestDatabases:
    async def test_a_schema_that_is_behind_comes_with_its_command(self, tmp_path: Path) -> None:
        found = problems(await databases.look_at_databases(control(tmp_path)))
        assert [each.remedy for each in found] == ["routeloom control migrate"]

    async def test_postgresql_is_asked_for_version_and_clock(self, tmp_path: Path, database_url: str) -> None:
        there = control(tmp_path, database={"url": database_url})
        opened = open_database(DatabaseSettings.model_validate({"url": database_url}))
        await upgrade(opened, "control_server")
        await opened.close()
        found = await databases.look_at_databases(there)
        assert problems(found) == []
        assert {each.check for each in found} == {"migrations", "versions", "clocks"}

    async def test_one_that_is_away_is_a_finding(self, tmp_path: Path) -> None:
        url = f"postgresql://nobody:sesame@127.0.0.1:{free_loopback_port()}/none"
        (one,) = problems(await databases.look_at_databases(control(tmp_path, database={"url": url})))
        assert one.check == "reachability"
        assert "sesame" not in str(one)


class TestHost:
    def test_a_port_of_another_program_is_found(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            number = other.getsockname()[1]
            found = host.look_at_host(control(tmp_path, web={"port": number}))
        (one,) = problems([each for each in found if each.check == "ports"])
        assert str(number) in one.remedy

    def test_an_address_that_the_host_does_not_have_is_named(self, tmp_path: Path) -> None:
        found = host.look_at_host(control(tmp_path, web={"host": "203.0.113.1", "port": 8420}))
        (one,) = problems([each for each in found if each.check == "ports"])
        assert "no address 203.0.113.1" in one.text
        assert "ROUTELOOM_CONTROL_WEB__HOST" in one.remedy

    def test_a_free_port_is_good(self, tmp_path: Path) -> None:
        found = host.look_at_host(control(tmp_path, web={"port": free_loopback_port()}))
        assert graded(found, "ports") == [Grade.GOOD]


class TestPublished:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "compose.yaml").write_text((COMPOSE / "compose.yaml").read_text())
        return tmp_path

    def test_the_shipped_ports(self, folder: Path) -> None:
        assert list(published.wanted(folder, {})) == [
            ("", 43),
            ("", 8282),
            ("", 80),
            ("", 443),
            ("127.0.0.1", 3000),
        ]

    def test_the_file_and_variables_move_them(self, folder: Path) -> None:
        (folder / ".env").write_text("ROUTELOOM_HTTP_PORT=127.0.0.1:8420\n#ROUTELOOM_HTTPS_PORT=1\n")
        found = list(published.wanted(folder, {"ROUTELOOM_RTR_PORT": "8323"}))
        assert found[1:4] == [("", 8323), ("127.0.0.1", 8420), ("", 443)]

    def test_one_that_is_taken_is_found(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            number = other.getsockname()[1]
            names = ("HTTP", "HTTPS", "WHOIS", "RTR", "CAP")
            lines = [f"ROUTELOOM_{name}_PORT=127.0.0.1:{free_loopback_port()}" for name in names]
            lines[2] = f"ROUTELOOM_WHOIS_PORT=127.0.0.1:{number}"
            lines[4] = f"ROUTELOOM_CAP_PORT={free_loopback_port()}"
            (folder / ".env").write_text("\n".join(lines))
            found = published.look_at_published(Deployment({}, folder))
        assert [str(number) in each.text for each in problems(found)] == [True]


class TestExamine:
    async def test_a_part_that_breaks_hides_no_other(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(_: Deployment) -> list[Finding]:
            raise RuntimeError("a bug")

        monkeypatch.setattr("routeloom.doctor.examination.look_at_host", broken)
        found = await examine(control(tmp_path, web={"port": 0, "public_url": "http://localhost:1"}))
        assert "a bug" in next(each.text for each in found if each.check == "doctor")
        assert graded(found, "migrations") == [Grade.PROBLEM]


class TestFindDeployment:
    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("CONTROL", "AUTH", "REGISTRY"):
            monkeypatch.delenv(f"ROUTELOOM_{name}_DATABASE__URL", raising=False)
            monkeypatch.delenv(f"ROUTELOOM_{name}_STATE_DIRECTORY", raising=False)
        monkeypatch.delenv("ROUTELOOM_CONFIG", raising=False)

    def test_each_service_has_a_file_of_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ROUTELOOM_REGISTRY_STATE_DIRECTORY", str(tmp_path))
        (tmp_path / "registry").mkdir()
        (tmp_path / "registry" / "routeloom.toml").write_text(
            '[registry.database]\nurl = "sqlite:////nowhere/registry.db"\n'
        )
        found = deployment.find_deployment(None, tmp_path)
        services: dict[str, Settings] = found.services
        assert list(services) == ["registry"]
        assert isinstance(services["registry"], RegistrySettings)
        assert graded(found.findings, "settings") == [Grade.NOTE, Grade.NOTE]

    def test_a_wrong_setting_is_named_by_its_variable(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ROUTELOOM_CONTROL_DATABASE__URL", "mysql://x")
        monkeypatch.setenv("ROUTELOOM_CONTROL_STATE_DIRECTORY", str(tmp_path))
        found = deployment.find_deployment(None, tmp_path)
        (one,) = problems(found.findings)
        assert "ROUTELOOM_CONTROL_DATABASE__URL" in one.text
