"""How this process's memory goes back to the system when large values expire.

The C library raises its threshold for mappings of their own with every large value that is freed. After that,
large values lie together on the heap, and the one that is freed last gives all of it back in a single stroke
of many milliseconds. A threshold that was set once stays where it is (`mallopt(3)`), so that each large value
goes by itself, in the slice of the sweep that removes it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_M_MMAP_THRESHOLD = -3
_BYTES = 128 * 1024


@cache
def keep_large_values_apart() -> bool:
    """Fix the threshold at its first value, once a process; False where the C library knows no such thing."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_M_MMAP_THRESHOLD, _BYTES))
