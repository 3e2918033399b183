"""Every requirement has a test that runs."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.auth.rows import HERE, PEER, all_rows, rows_named_by
from tests.conformance.auth.table import PAGE, PASSED


def functions(path: Path) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """The tests of a module with the marks of their module."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    marks = "".join(
        ast.unparse(each.value)
        for each in module.body
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "pytestmark"
    )
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node, marks + "".join(ast.unparse(each) for each in node.decorator_list)


@cache
def named_after_rows() -> dict[str, list[str]]:
    """The tests of each row that run by default, by the names in the sources."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.rglob("test_*.py")):
        if "node_modules" in path.parts:
            continue
        for function, marks in functions(path):
            if "mark.soak" in marks:
                continue
            for row in rows_named_by(function.name):
                found.setdefault(row, []).append(f"{path.name}::{function.name}")
    return found


@pytest.mark.parametrize("row", all_rows())
def test_a_row_has_a_test(row: str) -> None:
    assert named_after_rows().get(row), f"{row}: {all_rows()[row].requirement}"


def test_every_name_is_that_of_a_row() -> None:
    unknown = {row: tests for row, tests in named_after_rows().items() if row not in all_rows()}
    assert unknown == {}


def test_nothing_is_skipped() -> None:
    skips = re.compile(r"pytest\.skip\(|mark\.skip|mark\.xfail|importorskip\(")
    paths = [path for path in HERE.rglob("*.py") if path != Path(__file__)]
    assert [path.name for path in paths if skips.search(path.read_text(encoding="utf-8"))] == []


def test_the_table_names_the_peer_that_is_installed() -> None:
    assert f'"{PEER}": "' in (HERE / "peers" / "package.json").read_text(encoding="utf-8")


def written() -> list[list[str]]:
    """The page's rows: id, requirement, ours, the peer's."""
    lines = PAGE.read_text(encoding="utf-8").split(f"## What {PEER} does otherwise")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [row for row in cells if row[0] not in {"id", "---"}]


def test_the_page_has_every_requirement_as_it_is_worded_now() -> None:
    assert [row[:2] for row in written()] == [[row.ident, row.requirement] for row in all_rows().values()]


def test_the_page_shows_ours_without_a_failure() -> None:
    assert [row[0] for row in written() if row[2] != PASSED] == []


def test_the_page_grades_the_peer_in_each_row() -> None:
    known = re.compile(r"passed|failed|–|[0-9]+ of [0-9]+")
    assert [row[0] for row in written() if not known.fullmatch(row[3])] == []
    assert {PASSED} <= {row[3] for row in written()}


def test_the_page_names_the_peer_s_version() -> None:
    packages = json.loads((HERE / "peers" / "package.json").read_text(encoding="utf-8"))
    assert f"`{PEER}` {packages['dependencies'][PEER]}," in PAGE.read_text(encoding="utf-8")
