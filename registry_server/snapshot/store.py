"""Where a snapshot lies: in this process's memory, which must be told to give back what a load took."""

from __future__ import annotations

import ctypes
import sys
from functools import cache


def give_back() -> bool:
    """Give the memory that a load has freed back to the system; False where the C library cannot.

    A load takes tens of megabytes for a second, once a sync, and the C library would keep them for ever.
    """
    trim = _trim()
    return trim is not None and bool(trim(0))


@cache
def _trim() -> ctypes._NamedFuncPointer | None:
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
