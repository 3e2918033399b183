"""Every message of the sources is in every catalogue, translated, and nothing else is."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from shared.web.catalogues import extract_messages, is_untranslated
from shared.web.translation import LOCALE_DIRECTORIES, read_catalogue

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog, Message

REMEDY = "run `python -m shared.web.catalogues`, then translate what it names"
_PLACE = re.compile(r"%\(\w+\)[sd]|\{\w+\}")


@cache
def extracted() -> Catalog:
    return extract_messages()


def ids(catalogue: Catalog) -> set[str]:
    return {str(message.id) for message in catalogue if message.id}


def places(text: object) -> set[str]:
    return set(_PLACE.findall(text if isinstance(text, str) else "".join(text)))  # type: ignore[arg-type]


def messages(directory: str) -> list[Message]:
    return [message for message in read_catalogue(directory) if message.id]


@pytest.mark.parametrize("directory", LOCALE_DIRECTORIES)
class TestCatalogue:
    def test_has_every_message_of_the_sources(self, directory: str) -> None:
        missing = ids(extracted()) - ids(read_catalogue(directory))
        assert not missing, f"{REMEDY}: {sorted(missing)}"

    def test_has_no_message_that_the_sources_lost(self, directory: str) -> None:
        stale = ids(read_catalogue(directory)) - ids(extracted())
        assert not stale, f"{REMEDY}: {sorted(stale)}"

    def test_leaves_nothing_untranslated_or_unconfirmed(self, directory: str) -> None:
        left = [message.id for message in messages(directory) if is_untranslated(message)]
        assert not left, f"{REMEDY}: {left}"

    def test_keeps_every_place_for_a_value(self, directory: str) -> None:
        different = [
            message.id for message in messages(directory) if places(message.id) != places(message.string)
        ]
        assert not different, different


def test_chinese_differs_from_english_but_for_names() -> None:
    same = [message.id for message in messages("zh_Hans") if message.id == message.string]
    assert not same, f"left in English: {same}"
