import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import files, is_migration, parsed, product_modules, text_of

FILE_LINES = 300
TEST_FILE_LINES = 500
FUNCTION_LINES = 40
PARAMETERS = 5

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(parsed(path)) if isinstance(node, Function))


def parameters(function: Function) -> list[str]:
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def is_command(function: Function) -> bool:
    """Whether the parameters are the options of a command line, which nobody has to call in order."""
    return any(
        isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "command"
        for mark in function.decorator_list
    )


def test_no_file_is_longer_than_one_sitting() -> None:
    too_long = []
    for path in files(".py", ".lua", ".js", ".mjs", ".sh"):
        limit = TEST_FILE_LINES if path.parts[0] == "tests" else FILE_LINES
        lines = text_of(path).count("\n")
        if lines > limit:
            too_long.append(f"{path}: {lines} lines, at most {limit}")
    assert not too_long


def test_no_function_is_longer_than_a_screen() -> None:
    too_long = []
    for path in [*product_modules(), *(path for path in files(".py") if path.parts[0] == "setup")]:
        for function in functions(path):
            lines = (function.end_lineno or 0) - function.lineno + 1
            if lines > FUNCTION_LINES and not is_migration(path):
                too_long.append(f"{path}:{function.lineno} {function.name}: {lines} lines")
    assert not too_long


def test_no_function_takes_more_parameters_than_fit_in_the_head() -> None:
    too_many = [
        f"{path}:{function.lineno} {function.name}: {len(parameters(function))} parameters"
        for path in product_modules()
        for function in functions(path)
        if len(parameters(function)) > PARAMETERS and not is_command(function)
    ]
    assert not too_many
