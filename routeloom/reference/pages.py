"""The generated pages, by file name."""

from __future__ import annotations

from pathlib import Path

from routeloom.reference import commands, errors, interfaces, keys, metrics, settings

DIRECTORY = Path(__file__).parents[2] / "docs" / "reference"


def generated() -> dict[str, str]:
    """Every page that is written from the code."""
    return {
        "settings.md": settings.page(),
        "errors.md": errors.page(),
        "metrics.md": metrics.page(),
        "keys.md": keys.page(),
        "cli.md": commands.page(),
        **interfaces.pages(),
    }
