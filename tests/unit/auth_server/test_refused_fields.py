"""What this service refuses in a form is said in the reader's language."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import auth_server
from shared.kernel.errors import FieldError
from shared.web.field_words import words
from shared.web.translation import load_languages

SOURCES = sorted(Path(auth_server.__file__).parent.rglob("*.py"))
CHINESE = load_languages()["zh-Hans"]
#: Which argument of a refusal is its code.
PLACE_OF_CODE = {"FieldError": 1, "PydanticCustomError": 0}


def codes() -> set[str]:
    """Those that stand in the sources as they are; the validator's and those of errors come by themselves."""
    return {
        code.value
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PLACE_OF_CODE
        if isinstance(code := node.args[PLACE_OF_CODE[node.func.id]], ast.Constant)
        and isinstance(code.value, str)
    }


def test_there_are_codes() -> None:
    assert {"not_printable", "client_id_refused", "address_not_acceptable"} <= codes()


@pytest.mark.parametrize("code", sorted(codes()))
def test_each_code_has_words(code: str) -> None:
    assert words(FieldError("field", code, "in English"), CHINESE) != "in English"


def test_no_field_is_refused_without_a_code() -> None:
    """A bare ValueError reaches the reader in English. What is named below is no field of a form."""
    programs = {"settings.py", "passkeys/schemas.py"}
    root = Path(auth_server.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id == "ValueError"
    }
    assert found <= programs
