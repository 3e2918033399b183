"""Cases C24 and C25: which URL and which deployment start, and what the others are told to change."""

import pytest
from pydantic import ValidationError

from shared.runtime_state import (
    Deployment,
    RuntimeStateConfigurationError,
    RuntimeStateSettings,
    create_runtime_state_client,
)
from shared.runtime_state.locations import MemoryLocation, ServerLocation, check_prefix, parse_location
from shared.runtime_state.settings import check_deployment

SQLITE = "sqlite+aiosqlite:////var/lib/routeloom/control.db"
POSTGRES = "postgresql+asyncpg://control@database.example/control"
SECRET = "planted-secret"


def settings(url: str = "memory://lite", **changed: object) -> RuntimeStateSettings:
    return RuntimeStateSettings.model_validate({"REDIS_URL": url, **changed})


def deployment(database: str = SQLITE, workers: int = 1, **environment: str) -> Deployment:
    return Deployment(database, workers, environment)


class TestC24Accepted:
    @pytest.mark.parametrize("name", ["lite", "a", "lite-2", "0"])
    def test_memory_with_a_name(self, name: str) -> None:
        assert parse_location(f"memory://{name}") == MemoryLocation(name)

    @pytest.mark.parametrize(
        ("url", "location"),
        [
            ("redis://host", ServerLocation("host")),
            ("REDIS://host", ServerLocation("host")),
            ("redis://host/", ServerLocation("host")),
            ("redis://192.0.2.1:6380/3", ServerLocation("192.0.2.1", 6380, 3)),
            ("redis://[2001:db8::1]/1", ServerLocation("2001:db8::1", database=1)),
            ("rediss://host:1", ServerLocation("host", 1, encrypted=True)),
            ("redis://:p%40ss@host", ServerLocation("host", password="p@ss")),
            ("redis://user:pass@host/0", ServerLocation("host", username="user", password="pass")),
        ],
    )
    def test_a_server(self, url: str, location: ServerLocation) -> None:
        assert parse_location(url) == location


class TestC24Refused:
    @pytest.mark.parametrize(
        ("url", "message"),
        [
            ("", "must begin with redis://, rediss:// or memory://"),
            ("unix:///run/redis.sock", "must begin with redis://, rediss:// or memory://"),
            ("valkey://host", "must begin with redis://, rediss:// or memory://"),
            ("http://host", "must begin with redis://, rediss:// or memory://"),
            ("host:6379", "must begin with redis://, rediss:// or memory://"),
            ("memory://", "memory:// in REDIS_URL needs a name"),
            ("memory:", "memory:// in REDIS_URL needs a name"),
            ("memory:///", "memory:// in REDIS_URL needs a name"),
            ("memory:///x", "stands directly after memory://"),
            ("memory:x", "stands directly after memory://"),
            ("memory://a/b", "one name of lower-case letters"),
            ("memory://lite/", "one name of lower-case letters"),
            ("memory://Lite", "one name of lower-case letters"),
            ("memory://lite:80", "one name of lower-case letters"),
            ("memory://user@lite", "one name of lower-case letters"),
            ("memory://-lite", "one name of lower-case letters"),
            ("memory://lite?x=1", "takes no options"),
            ("memory://lite#x", "takes no options"),
            ("memory://lite?", "takes no options"),
            ("redis://host/0?socket_timeout=9", "takes no options"),
            ("redis://", "names no host"),
            ("rediss://", "names no host"),
            ("redis:///0", "names no host"),
            ("redis://:6379", "names no host"),
            ("redis://:pass@", "names no host"),
            ("redis://a,b", "names no host"),
            ("redis://host:0", "a host or a port that cannot be read"),
            ("redis://host:99999", "a host or a port that cannot be read"),
            ("redis://host:port", "a host or a port that cannot be read"),
            ("redis://[::1", "a host or a port that cannot be read"),
            ("redis://host/name", "one database number"),
            ("redis://host/1/2", "one database number"),
            ("redis://host/-1", "one database number"),
            ("memory://lite ", "spaces or control characters"),
            (" redis://host", "spaces or control characters"),
            ("redis://ho\nst", "spaces or control characters"),
        ],
    )
    def test_says_what_to_change(self, url: str, message: str) -> None:
        with pytest.raises(RuntimeStateConfigurationError, match=message):
            check_deployment(settings(url), deployment())

    @pytest.mark.parametrize(
        "url",
        [
            f"redis://user:{SECRET}@",
            f"redis://user:{SECRET}@host/x",
            f"redis://user:{SECRET}@host:port",
            f"unix://user:{SECRET}@host",
            f"memory://user:{SECRET}@lite",
            f"redis://host?password={SECRET}",
            f"redis://user:{SECRET}@host ",
        ],
    )
    def test_never_repeats_the_url(self, url: str) -> None:
        with pytest.raises(RuntimeStateConfigurationError) as caught:
            check_deployment(settings(url), deployment())
        assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r}"
        assert SECRET not in repr(settings(url))

    def test_a_location_shows_no_password(self) -> None:
        assert SECRET not in repr(parse_location(f"redis://user:{SECRET}@host"))


class TestC25Deployment:
    @pytest.mark.parametrize(
        "accepted",
        [
            deployment(),
            deployment("sqlite://"),
            deployment(WEB_CONCURRENCY="1"),
            deployment(WEB_CONCURRENCY="", UVICORN_WORKERS=" 1 "),
        ],
    )
    def test_memory_starts_as_one_process_on_sqlite(self, accepted: Deployment) -> None:
        assert check_deployment(settings(), accepted) == MemoryLocation("lite")

    @pytest.mark.parametrize("database", [POSTGRES, "postgresql://database.example/control", "postgres://x"])
    def test_memory_with_postgresql_is_refused(self, database: str) -> None:
        with pytest.raises(
            RuntimeStateConfigurationError, match="With PostgreSQL, set REDIS_URL to redis://"
        ):
            check_deployment(settings(), deployment(database))

    def test_memory_with_several_workers_of_the_server_is_refused(self) -> None:
        with pytest.raises(RuntimeStateConfigurationError, match="Start one worker, or set REDIS_URL"):
            check_deployment(settings(), deployment(workers=2))

    @pytest.mark.parametrize("variable", ["WEB_CONCURRENCY", "UVICORN_WORKERS"])
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("2", "{} asks for more. Set it to 1"),
            ("16", "{} asks for more. Set it to 1"),
            ("0", "{} is not a number of workers"),
            ("-1", "{} is not a number of workers"),
            ("two", "{} is not a number of workers"),
            ("1.5", "{} is not a number of workers"),
        ],
    )
    def test_memory_with_several_workers_by_variable_is_refused(
        self, variable: str, text: str, message: str
    ) -> None:
        with pytest.raises(RuntimeStateConfigurationError, match=message.format(variable)):
            check_deployment(settings(), Deployment(SQLITE, environment={variable: text}))

    @pytest.mark.parametrize("database", [SQLITE, POSTGRES])
    def test_a_server_starts_with_any_database_and_any_workers(self, database: str) -> None:
        several = deployment(database, 4, WEB_CONCURRENCY="4")
        assert check_deployment(settings("redis://state"), several) == ServerLocation("state")

    def test_an_item_larger_than_everything_is_refused(self) -> None:
        wrong = settings(RUNTIME_STATE_MEMORY_MAX_BYTES=10, RUNTIME_STATE_MEMORY_MAX_ITEM_BYTES=11)
        with pytest.raises(RuntimeStateConfigurationError, match="is above RUNTIME_STATE_MEMORY_MAX_BYTES"):
            check_deployment(wrong, deployment())


class TestC8Prefix:
    @pytest.mark.parametrize("prefix", ["p:", "{routeloom}:", "a{b}c", "路:"])
    def test_accepted(self, prefix: str) -> None:
        check_prefix(prefix)

    @pytest.mark.parametrize(
        "prefix", ["", " ", "a b", "\n", "{", "}", "{}", "{}x", "}{", "{a}{b}", "{a}}", "{{a}"]
    )
    def test_refused_when_invisible_or_with_loose_braces(self, prefix: str) -> None:
        with pytest.raises(RuntimeStateConfigurationError):
            check_deployment(settings(REDIS_KEY_PREFIX=prefix), deployment())
        with pytest.raises(RuntimeStateConfigurationError):
            create_runtime_state_client("memory://lite", prefix=prefix)

    def test_a_prefix_with_braces_keeps_all_keys_in_one_slot(self) -> None:
        from redis.crc import key_slot

        check_prefix("{routeloom}:")
        slots = {
            key_slot(f"{{routeloom}}:{key}".encode()) for key in ("a", "b{c}", "}{", "runtime:artifact:x")
        }
        assert len(slots) == 1


class TestSettings:
    def test_the_variables_are_read_under_their_fixed_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, text in {
            "REDIS_URL": f"redis://:{SECRET}@state/1",
            "REDIS_KEY_PREFIX": "mine:",
            "RUNTIME_ARTIFACT_SWEEP_INTERVAL_SECONDS": "5",
            "RUNTIME_STATE_MEMORY_MAX_BYTES": "1000",
            "RUNTIME_STATE_MEMORY_MAX_ITEM_BYTES": "100",
            "runtime_preview_artifact_ttl_seconds": "60",
        }.items():
            monkeypatch.setenv(name, text)
        read = RuntimeStateSettings()
        assert read.url.get_secret_value() == f"redis://:{SECRET}@state/1"
        assert read.key_prefix == "mine:"
        assert read.sweep_interval.total_seconds() == 5
        assert (read.memory_limits.max_bytes, read.memory_limits.max_item_bytes) == (1000, 100)
        assert read.preview_ttl.total_seconds() == 60

    def test_the_defaults_are_those_of_the_adapter(self) -> None:
        read = RuntimeStateSettings.model_validate({})
        assert read.url.get_secret_value() == "memory://lite"
        assert read.sweep_interval_seconds == 30
        assert read.memory_limits.max_bytes == 128 * 2**20
        assert read.memory_limits.max_item_bytes == 16 * 2**20
        assert read.preview_ttl_seconds == 3600

    @pytest.mark.parametrize("interval", [0, -1, 3601, "soon"])
    def test_an_interval_that_is_none_is_refused(self, interval: object) -> None:
        with pytest.raises(ValidationError):
            settings(RUNTIME_ARTIFACT_SWEEP_INTERVAL_SECONDS=interval)

    def test_reading_them_judges_no_url(self) -> None:
        assert settings("nonsense").url.get_secret_value() == "nonsense"
