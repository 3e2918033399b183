import importlib
from collections import Counter
from collections.abc import Iterator

import pytest

from shared.kernel.errors import AppError
from tests.architecture.tree import PRODUCT, dotted, is_migration, product_modules, text_of

Refusal = type[AppError]


def descendants(parent: Refusal) -> Iterator[Refusal]:
    for child in parent.__subclasses__():
        yield child
        yield from descendants(child)


@pytest.fixture(scope="module")
def refusals() -> list[Refusal]:
    for path in product_modules():
        # A class derived from a refusal stands in a module that says so, or in one named errors.
        declares = path.stem == "errors" or "AppError" in text_of(path)
        if declares and not is_migration(path) and path.stem != "__main__":
            importlib.import_module(dotted(path))
    found = {each for each in descendants(AppError) if each.__module__.split(".")[0] in PRODUCT}
    return sorted(found, key=lambda each: (each.__module__, each.__qualname__))


def test_every_refusal_has_a_code_of_its_own(refusals: list[Refusal]) -> None:
    assert [each.__qualname__ for each in refusals if "code" not in vars(each)] == []
    codes = [AppError.code, *(each.code for each in refusals)]
    assert [code for code, uses in Counter(codes).items() if uses > 1] == []


def test_every_code_is_one_word_in_one_case(refusals: list[Refusal]) -> None:
    """Clients compare codes; upper case is for those that the runtime-state adapter fixes."""
    codes = [each.code for each in refusals]
    assert [code for code in codes if code not in {code.lower(), code.upper()}] == []
    assert [code for code in codes if not code.isidentifier()] == []


def test_every_refusal_says_something(refusals: list[Refusal]) -> None:
    assert [each.__qualname__ for each in refusals if not (vars(each).get("__doc__") or "").strip()] == []
