"""What must stand in no template."""

import re

from tests.architecture.tree import files, text_of

#: A list searched for one of its rows; for each of the rows, that is a page whose time grows with the square.
SEARCH = re.compile(r"selectattr\([^)]*,\s*\"(?:equalto|eq|==)\"\s*,\s*[^\"'\s]")


def test_rows_that_belong_together_are_found_by_a_mapping() -> None:
    templates = files(".html")
    assert templates
    assert [str(path) for path in templates if SEARCH.search(text_of(path))] == []


def test_a_search_is_recognised() -> None:
    assert SEARCH.search('{{ nodes | selectattr("node_id", "equalto", name) | first }}')
    assert not SEARCH.search('{{ sessions | selectattr("state.value", "equalto", "established") | list }}')
