"""A hook of the builder of docs/: links to files of the checkout that are no pages become plain text."""

import posixpath
import re
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace links that leave docs/: readers of the site have no checkout beside it."""
    folder = posixpath.dirname(page.file.src_uri)

    def plain(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found[2]))
        return found[1] if target.startswith("../") else found[0]

    return _LINK.sub(plain, markdown)
