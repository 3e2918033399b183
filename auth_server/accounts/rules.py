"""Names of accounts."""

from __future__ import annotations

import re

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,31}", re.ASCII)


def fold_name(text: str) -> str:
    """The login name that was meant, or empty for what can be nobody's name."""
    folded = text.strip().casefold()
    return folded if _NAME.fullmatch(folded) else ""
