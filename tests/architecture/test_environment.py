"""A server that lives beside tests of other files leaves nothing of its settings in the environment."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
WIDE = {"session", "package"}


def wide_fixtures(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Fixtures that outlive the tests of their file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
                scopes = {ast.unparse(each.value).strip("'") for each in keywords if each.arg == "scope"}
                if scopes & WIDE:
                    yield node


def yields_while_patched(fixture: ast.AST) -> bool:
    return any(
        isinstance(block, ast.With | ast.AsyncWith)
        and any("MonkeyPatch" in ast.unparse(item.context_expr) for item in block.items)
        and any(isinstance(inner, ast.Yield) for inner in ast.walk(block))
        for block in ast.walk(fixture)
    )


def test_a_wide_fixture_changes_the_environment_only_while_it_opens() -> None:
    wrong = [
        f"{path.relative_to(TESTS)}: {fixture.name}"
        for path in sorted(TESTS.rglob("*.py"))
        if "node_modules" not in path.parts
        for fixture in wide_fixtures(path)
        if yields_while_patched(fixture)
    ]
    assert wrong == []
