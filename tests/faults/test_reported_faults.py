"""Every fault that others met is put before our code by a test that is there, or has a reason."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS / "faults" / "reported_faults.md"
#: The rows of the catalogue of reported faults; the numbers in between concern other things.
REPORTED = [1, *range(3, 9), *range(11, 19), *range(20, 24), *range(25, 30), 31, *range(33, 38), 40, 41, 42]
FLAPS, COUNTERS = [*range(1, 9), 10, 11], [1, 2, 4, 5, 6, 9]
IDS = [
    *(f"B{number}" for number in REPORTED),
    *(f"T{number}" for number in range(1, 13)),
    *(f"F{number}" for number in FLAPS),
    *(f"G{number}" for number in COUNTERS),
    *(f"V{number}" for number in range(1, 8)),
]
REASON = "cannot occur: "


def rows() -> dict[str, str]:
    found = re.findall(r"^\| ([BFGTV]\d+) \| .+ \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(found) == len(dict(found)), "an id stands there twice"
    return dict(found)


def is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    file = TESTS / path
    if not file.is_file():
        return False
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return any(isinstance(node, functions) and node.name == name for node in nodes)


def test_every_fault_has_its_row() -> None:
    assert sorted(rows()) == sorted(IDS)


def test_every_row_names_a_test_or_a_reason() -> None:
    for ident, shown_by in rows().items():
        named = re.findall(r"`([a-z_/]+\.py::test_[a-z0-9_]+)`", shown_by)
        assert named or shown_by.startswith(REASON), ident
        missing = [test for test in named if not is_there(test)]
        assert not missing, f"{ident}: {missing}"
