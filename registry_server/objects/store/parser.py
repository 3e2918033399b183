"""The process that parses: files in, rows out."""

from __future__ import annotations

import gc
import os
import sys
from typing import IO

from registry_server.objects.rules.rows import index_rows
from registry_server.objects.store.messages import pack_rows, read, unpack_files, write

_BEGUN = True


def main(files: IO[bytes], found: IO[bytes]) -> None:
    """Say that it has begun, then answer each message until they end."""
    gc.disable()  # no cycles are made, and the process ends soon
    write(found, _BEGUN)
    parsed = 0
    while (message := read(files)) is not None:
        first_id, packed = message
        rows = index_rows(unpack_files(packed), first_id + parsed)
        parsed += rows.count
        write(found, pack_rows(rows))


if __name__ == "__main__":
    try:
        main(sys.stdin.buffer, sys.stdout.buffer)
    except (BrokenPipeError, EOFError):
        os._exit(1)  # whoever began us was killed, and nobody is there to be told
