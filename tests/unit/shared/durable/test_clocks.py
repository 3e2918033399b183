"""Every deadline is the server's: no store reads this machine's wall clock."""

from __future__ import annotations

import ast
from pathlib import Path

import shared.durable

PACKAGE = Path(shared.durable.__file__).parent
WALL_CLOCKS = {"now", "utcnow", "today", "time_ns", "utc_now", "localtime", "gmtime"}


def test_no_module_asks_for_the_time_of_day() -> None:
    for path in PACKAGE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        names = {function.attr for function in called if isinstance(function, ast.Attribute)}
        names |= {function.id for function in called if isinstance(function, ast.Name)}
        assert "time" not in imported, path.name
        assert not names & WALL_CLOCKS, path.name


def test_every_script_declares_what_it_is() -> None:
    scripts = [path for path in (PACKAGE / "scripts").glob("*.lua") if path.name != "queue_moves.lua"]
    assert len(scripts) > 15
    for path in scripts:
        assert path.read_text().startswith("#!lua"), path.name
