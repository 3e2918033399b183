"""What a request is given is made on the event loop.

A dependency that is a plain function is called in a thread, and the way there and back costs more than what
it does: some requests went there twenty times.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The service whose every dependency is so.
SERVICE = "control_server"


def depended_upon(tree: ast.Module) -> Iterator[str]:
    """Names of this module that stand in `Depends(name)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Depends":
            yield from (given.id for given in node.args if isinstance(given, ast.Name))


def in_a_thread(tree: ast.Module) -> set[str]:
    """Dependencies that are plain functions."""
    plain = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return plain & set(depended_upon(tree))


def test_no_dependency_is_called_in_a_thread() -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / SERVICE).rglob("*.py")
        if (names := in_a_thread(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


def test_one_that_would_be_is_found() -> None:
    tree = ast.parse("def _plain(): ...\nasync def _fine(): ...\nA = [Depends(_plain), Depends(_fine)]")
    assert in_a_thread(tree) == {"_plain"}
