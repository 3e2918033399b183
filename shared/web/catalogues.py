"""Keeps the catalogues in step with the sources: `python -m shared.web.catalogues` after a new message."""

from __future__ import annotations

from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import write_po

from shared.web.script_messages import SCRIPT_KEYWORDS
from shared.web.translation import LOCALE_DIRECTORIES, catalogue_path, read_catalogue

if TYPE_CHECKING:
    from babel.messages.catalog import Message

PROJECT_ROOT = Path(__file__).parents[2]
PACKAGES = ("auth_server", "control_server", "registry_server", "routeloom", "shared")
#: Its messages are their own translation.
SOURCE = "en"
_CHANGING = (
    b'"POT-Creation-Date',
    b'"PO-Revision-Date',
    b'"Last-Translator',
    b'"Language-Team',
    b'"Report-Msgid',
    b'"Project-Id',
    b'"Generated-By',
)
_KEYWORDS = {**DEFAULT_KEYWORDS, **SCRIPT_KEYWORDS}


def extract_messages(root: Path = PROJECT_ROOT) -> Catalog:
    """Every message of templates, Python and browser modules, by the rules of `babel.cfg`."""
    with (root / "babel.cfg").open(encoding="utf-8") as file:
        methods, options = parse_mapping_cfg(file)  # type: ignore[no-untyped-call]
    catalogue = Catalog()
    for package in PACKAGES:
        found = extract_from_dir(root / package, methods, options, keywords=_KEYWORDS)
        for name, _, message, comments, context in found:
            catalogue.add(message, None, [(f"{package}/{name}", 0)], auto_comments=comments, context=context)
    return catalogue


def update_catalogue(directory: str, template: Catalog) -> list[str]:
    """Bring one catalogue in step, and return the messages that still want a translation."""
    catalogue = read_catalogue(directory)
    # A copy, because Babel puts the template's own messages into the catalogue.
    catalogue.update(deepcopy(template), no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    if directory == SOURCE:
        for message in catalogue:
            message.string = message.id
    written = BytesIO()
    write_po(written, catalogue, width=110, sort_output=True, include_lineno=False)
    catalogue_path(directory).write_bytes(_without_dates(written.getvalue()))
    return [str(message.id) for message in catalogue if is_untranslated(message)]


def _without_dates(content: bytes) -> bytes:
    """A head that stays the same from one update to the next, so that changes show what changed."""
    lines = content.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(_CHANGING))


def is_untranslated(message: Message) -> bool:
    """Whether a message has no translation, only part of one, or one that nobody has confirmed."""
    if not message.id:
        return False
    texts = message.string if isinstance(message.string, list | tuple) else (message.string,)
    return message.fuzzy or not all(texts)


def main() -> None:
    """Update all catalogues and name what is left to translate."""
    template = extract_messages()
    for directory in LOCALE_DIRECTORIES:
        for message in update_catalogue(directory, template):
            print(f"{catalogue_path(directory)}: {message}")  # noqa: T201 - a command for developers


if __name__ == "__main__":
    main()
