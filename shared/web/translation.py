"""Languages of the portal: the catalogues, and which one a request gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from babel import Locale
from babel.support import Translations

from shared.web.prepared import prepared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from babel.messages.catalog import Catalog

LOCALE_ROOT = Path(__file__).parent / "locale"
LANGUAGE_COOKIE = "rl_language"


def lazy(message: str) -> str:
    """Mark a message for the catalogue; it is translated when it is shown."""
    return message


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its tag for HTML, its own name for the menu, its catalogue."""

    tag: str
    name: str
    #: How numbers and dates are written.
    locale: Locale
    translations: Translations = field(repr=False)

    def text(self, message: str) -> str:
        """The message in this language."""
        return self.translations.ugettext(message)

    def script_messages(self, messages: Sequence[str | tuple[str, str]]) -> Mapping[str, str]:
        """What the browser's modules say, where it differs from the source; keys are source messages."""
        known: dict[str, str] = {}
        for message in messages:
            if isinstance(message, tuple):
                one, many = message
                known[one] = self.translations.ungettext(one, many, 1)
                known[many] = self.translations.ungettext(one, many, 2)
            else:
                known[message] = self.text(message)
        return {key: value for key, value in known.items() if key != value}


#: The first is the default: directory, tag in HTML, own name, region for numbers and dates.
_KNOWN = (("en", "en", "English", "en_GB"), ("zh_Hans", "zh-Hans", "简体中文", "zh_Hans_CN"))
LOCALE_DIRECTORIES = tuple(directory for directory, *_ in _KNOWN)


@cache
def load_languages(root: Path = LOCALE_ROOT) -> dict[str, Language]:
    """Every language by its tag, the default first. No stale .mo: what is read was made of this very .po."""
    return {
        tag: Language(tag, name, Locale.parse(region), _translations(root, directory))
        for directory, tag, name, region in _KNOWN
    }


def _translations(root: Path, directory: str) -> Translations:
    source = catalogue_path(directory, root).read_bytes()
    return Translations(BytesIO(prepared(source, "mo", lambda: compiled_catalogue(source, directory))))


def read_catalogue(directory: str, root: Path = LOCALE_ROOT) -> Catalog:
    """The catalogue as its file says it."""
    return _parsed(catalogue_path(directory, root).read_bytes(), directory)


def catalogue_path(directory: str, root: Path = LOCALE_ROOT) -> Path:
    """Where the messages of one locale stand."""
    return root / directory / "LC_MESSAGES" / "messages.po"


def compiled_catalogue(source: bytes, directory: str) -> bytes:
    """What a .mo file of these messages holds."""
    from babel.messages.mofile import write_mo  # noqa: PLC0415 - a start has no need of it

    compiled = BytesIO()
    write_mo(compiled, _parsed(source, directory))
    return compiled.getvalue()


def _parsed(source: bytes, directory: str) -> Catalog:
    from babel.messages.pofile import read_po  # noqa: PLC0415 - a start has no need of it

    return read_po(BytesIO(source), locale=directory)


def choose_language(languages: Mapping[str, Language], chosen: str | None, accepted: str | None) -> Language:
    """The person's own choice, else the first language of the browser that we have, else the default."""
    if chosen and chosen in languages:
        return languages[chosen]
    for tag in _by_preference(accepted or ""):
        if tag == "zh" or tag.startswith(("zh-cn", "zh-sg", "zh-hans")):
            return languages["zh-Hans"]
        if tag == "en" or tag.startswith("en-"):
            return languages["en"]
    return next(iter(languages.values()))


def _by_preference(header: str) -> list[str]:
    weighted: list[tuple[float, str]] = []
    for part in header[:400].split(","):
        tag, _, parameters = part.strip().partition(";")
        weight = parameters.strip().removeprefix("q=") or "1"
        try:
            weighted.append((float(weight), tag.strip().lower()))
        except ValueError:
            continue
    return [tag for weight, tag in sorted(weighted, key=lambda pair: -pair[0]) if weight > 0]
