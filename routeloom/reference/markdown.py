"""Small parts of Markdown pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GENERATED = "<!-- Written by `make docs` from the code. Edit the code, not this page. -->"


def page(title: str, introduction: str, *parts: str) -> str:
    """A whole page."""
    return "\n\n".join((f"# {title}", GENERATED, introduction, *parts)) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; cells are kept to one line."""
    lines = [_row(heads), _row(["---"] * len(heads)), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[object]) -> str:
    texts = (str(cell).replace("|", "\\|").replace("\n", " ").strip() for cell in cells)
    return f"| {' | '.join(texts)} |"
