"""The runtime state is reached by one door, and both back ends stand behind it with the same commands."""

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.runtime_state.batch import StagedBatch
from shared.runtime_state.contracts import RuntimeStateBackend, RuntimeStateBatch, RuntimeStateCommands
from shared.runtime_state.facade import RedisRuntimeClient
from shared.runtime_state.memory_backend import InMemoryRuntimeStateBackend
from shared.runtime_state.redis_backend import RedisRuntimeStateBackend

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "shared" / "runtime_state"
CLIENTS = {"redis", "valkey", "hiredis", "libvalkey"}
BUSINESS = ("control_server", "auth_server", "registry_server", "node_agent", "routeloom", "shared")
#: What code outside the package may import of it.
DOORS = {"shared.runtime_state", "shared.runtime_state.client"}
INSIDES = {"RedisRuntimeStateBackend", "InMemoryRuntimeStateBackend", "MemoryStore", "StagedBatch"}
REGISTERED = {"ping", "set", "get", "incr", "delete", "expire", "ttl", "hset", "hget", "hmget", "hgetall"}
BATCHED = {"set", "hset", "expire", "delete"}
HELPERS = {"key", "dumps", "loads", "batch", "sweep_expired", "stats"}
UNREGISTERED = {"publish", "subscribe", "xadd", "xread", "scan_iter", "pipeline", "eval", "keys", "client"}


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def outside() -> list[Path]:
    return [
        path
        for package in BUSINESS
        for path in (ROOT / package).rglob("*.py")
        if PACKAGE not in path.parents and "testing" not in path.parts
    ]


def public_names(of: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(of) if not name.startswith("_")}


def test_only_the_redis_back_end_imports_a_client() -> None:
    importers = {
        path.name
        for path in PACKAGE.rglob("*.py")
        if {module.partition(".")[0] for module in imported_modules(path)} & CLIENTS
    }
    assert importers == {"redis_backend.py"}


def test_the_rest_of_the_product_uses_the_doors_only() -> None:
    for path in outside():
        for module in imported_modules(path):
            if not module.startswith("shared.runtime_state."):
                continue
            parent, _, name = module.rpartition(".")
            assert module in DOORS or parent in DOORS, f"{path.relative_to(ROOT)} imports {module}"
            assert name not in INSIDES, f"{path.relative_to(ROOT)} imports {name}"


def test_the_client_behind_the_facade_is_private() -> None:
    attributes = vars(RedisRuntimeClient(InMemoryRuntimeStateBackend(), prefix="p:"))
    assert {name for name in attributes if not name.startswith("_")} == {"sweeps"}


@pytest.mark.parametrize("backend", [InMemoryRuntimeStateBackend, RedisRuntimeStateBackend])
def test_a_back_end_has_the_contract_and_nothing_else(backend: type) -> None:
    assert public_names(backend) == public_names(RuntimeStateBackend)


def test_the_registered_commands_are_these() -> None:
    assert public_names(RuntimeStateCommands) == REGISTERED
    assert public_names(RuntimeStateBackend) >= REGISTERED
    assert public_names(RuntimeStateBatch) == public_names(StagedBatch) == BATCHED | {"execute"}
    assert public_names(RedisRuntimeClient) >= REGISTERED | HELPERS


@pytest.mark.parametrize("name", sorted(UNREGISTERED))
def test_what_is_not_registered_exists_nowhere(name: str) -> None:
    for surface in (
        RedisRuntimeClient,
        InMemoryRuntimeStateBackend,
        RedisRuntimeStateBackend,
        RuntimeStateBatch,
        StagedBatch,
    ):
        assert not hasattr(surface, name)


def test_both_back_ends_take_the_same_arguments() -> None:
    for name in REGISTERED:
        ours = inspect.signature(getattr(InMemoryRuntimeStateBackend, name))
        theirs = inspect.signature(getattr(RedisRuntimeStateBackend, name))
        assert ours == theirs == inspect.signature(getattr(RuntimeStateCommands, name))


def test_the_package_knows_the_web_framework_in_one_module_only() -> None:
    importers = {
        path.name
        for path in PACKAGE.rglob("*.py")
        if {module.partition(".")[0] for module in imported_modules(path)} & {"fastapi", "starlette"}
    }
    assert importers == {"client.py"}


def test_importing_validates_nothing() -> None:
    """Migrations and `--help` import the package under any setting."""
    done = subprocess.run(
        [sys.executable, "-c", "import shared.runtime_state.client; print('imported')"],
        cwd=ROOT,
        env={"REDIS_URL": "nonsense://", "WEB_CONCURRENCY": "many", "REDIS_KEY_PREFIX": "{", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "imported\n", done.stderr
