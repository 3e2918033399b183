"""What must stand in no file of the tree."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import ROOT, all_files, files, parsed, text_of

BINARY = {".woff2", ".png", ".ico", ".gz", ".br"}
# Where packages come from is the machine's own business. Written in parts, so that this file names none.
REGISTRIES = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("registry", "npmjs", "org"),
    ("registry", "yarnpkg", "com"),
    ("deb", "debian", "org"),
    ("security", "debian", "org"),
    ("snapshot", "debian", "org"),
    ("archive", "ubuntu", "com"),
)
REGISTRY = re.compile("|".join(re.escape(".".join(parts)) for parts in REGISTRIES))
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|root|home/\w+)" + "/")
SKIPS = {"skip", "skipif", "importorskip", "skipTest", "SkipTest", "skipUnless", "skipIf"}
MAY_SKIP: set[Path] = set()


def lines() -> Iterator[tuple[str, str]]:
    for path in all_files():
        if path.suffix in BINARY:
            continue
        for number, line in enumerate(text_of(path).splitlines(), 1):
            yield f"{path}:{number}", line


def names(node: ast.Attribute | ast.ImportFrom) -> set[str]:
    """What a node reaches for: the attribute it reads, or the names it imports."""
    if isinstance(node, ast.Attribute):
        return {node.attr}
    return {alias.name for alias in node.names}


def test_no_package_registry_is_named() -> None:
    assert [place for place, line in lines() if REGISTRY.search(line)] == []


def test_no_path_of_somebody_s_machine_is_named() -> None:
    assert [place for place, line in lines() if MACHINE_PATH.search(line)] == []


def test_every_requirement_is_locked_by_hash_and_names_no_host() -> None:
    for source in (ROOT / "requirements").glob("*.in"):
        locked = source.with_suffix(".txt").read_text(encoding="utf-8")
        assert "://" not in locked
        assert "index-url" not in locked
        pinned = [entry for entry in re.split(r"\n(?=\S)", locked) if "==" in entry.split("\n")[0]]
        assert pinned
        assert all("--hash=sha256:" in entry for entry in pinned), source.name


def test_the_lock_of_the_front_end_names_no_host() -> None:
    for path in all_files():
        if path.name == "package-lock.json":
            assert '"resolved"' not in text_of(path)


def test_no_test_skips_itself() -> None:
    """A missing server or tool fails: a skipped test would go unnoticed for ever."""
    skipping = [
        f"{path}:{node.lineno}"
        for path in files(".py")
        if path not in MAY_SKIP and path.parts[0] in {"tests", "shared"}
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute | ast.ImportFrom) and names(node) & SKIPS
    ]
    assert skipping == []
