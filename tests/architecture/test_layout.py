from pathlib import Path

import pytest

from tests.architecture.tree import PRODUCT, SERVICES, all_files, imported_names, product_modules

FEATURE_MODULES = {
    "__init__",
    "endpoints",
    "pages",
    "socket",
    "tasks",
    "dependencies",
    "service",
    "repository",
    "store",
    "rules",
    "models",
    "schemas",
    "errors",
}
SERVICE_MODULES = {
    "__init__",
    "__main__",
    "app",
    "door",  # the pages that can be served while the rest still comes
    "ways_in",  # what lets the operator of the host in
    "worker",
    "settings",
    "resources",
    "keys",
    "runtime_keys",  # the keys in the runtime state, which is no tier
    "metrics",
    "access",  # who may call what: the roles and scopes of the routes
    "commands",  # the verbs: serve, work, migrate, seed
    "command_ground",  # what commands of the host act on
    "client_commands",
    "key_commands",
    "durable",  # the queues of background jobs
    "tables",  # imports every feature's models, for the migrations
}
WITHOUT_MEANING = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}
PRIVATE_TO_A_FEATURE = {"repository", "store"}


def inside_services() -> list[Path]:
    return [path for path in all_files() if path.parts[0] in SERVICES and path.suffix == ".py"]


def feature_of(path: Path) -> str | None:
    """The feature a module belongs to; None at the root of a service and in its migrations."""
    return path.parts[1] if len(path.parts) > 2 and path.parts[1] != "migrations" else None


def test_a_feature_holds_only_the_agreed_files() -> None:
    unknown = [
        str(path)
        for path in inside_services()
        if feature_of(path) and Path(path.parts[2]).stem not in FEATURE_MODULES
    ]
    assert not unknown, "a feature's files are " + ", ".join(sorted(FEATURE_MODULES))


def test_a_service_holds_only_the_agreed_files_beside_its_features() -> None:
    unknown = [
        str(path) for path in inside_services() if len(path.parts) == 2 and path.stem not in SERVICE_MODULES
    ]
    assert not unknown


def test_names_say_what_is_inside() -> None:
    meaningless = [
        str(path)
        for path in all_files()
        if path.parts[0] in (*PRODUCT, "setup", "tests")
        and WITHOUT_MEANING & {Path(part).stem for part in path.parts}
    ]
    assert not meaningless


def test_a_feature_reaches_another_only_through_its_service() -> None:
    reaching = []
    for path in product_modules():
        if path.parts[0] not in SERVICES or feature_of(path) is None:
            continue
        for name in imported_names(path):
            parts = name.split(".")
            elsewhere = parts[0] == path.parts[0] and parts[1:2] != [feature_of(path)]
            if elsewhere and len(parts) > 2 and parts[2] in PRIVATE_TO_A_FEATURE:
                reaching.append(f"{path} imports {name}")
    assert not reaching


@pytest.mark.parametrize("package", PRODUCT)
def test_a_package_says_that_it_is_typed(package: str) -> None:
    assert Path(package, "py.typed") in all_files()
