"""Loads of everything make a million tuples and no cycles, which Python would look for all the while."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Have no cycles looked for: of a first sync that takes a tenth, of a snapshot half."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
