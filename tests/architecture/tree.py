"""The checkout as the architecture tests see it."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("control_server", "auth_server", "registry_server")
PRODUCT = (*SERVICES, "shared", "node_agent", "routeloom")


@cache
def all_files() -> tuple[Path, ...]:
    """Every file that is, or would be, committed; relative to the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = sorted(Path(name) for name in set(listed.split("\0")) if name)
    return tuple(path for path in paths if (ROOT / path).is_file())


def files(*suffixes: str) -> list[Path]:
    return [path for path in all_files() if path.suffix in suffixes]


def product_modules() -> list[Path]:
    return [path for path in files(".py") if path.parts[0] in PRODUCT]


def is_migration(path: Path) -> bool:
    return "migrations" in path.parts


@cache
def text_of(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(text_of(path), filename=str(path))


def dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_names(path: Path) -> Iterator[str]:
    """The dotted name of every module, or name in a module, that the file imports anywhere."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
