"""The scripts that run on the server, one file each, sent by EVAL with their keys declared."""

from __future__ import annotations

from functools import cache
from importlib import resources

#: Scripts that move jobs share one prelude, put between their shebang line and their body.
_MOVES_JOBS = frozenset(
    {
        "acknowledge",
        "cancel",
        "dead",
        "enqueue",
        "lease",
        "leased",
        "purge_dead",
        "queue_state",
        "reclaim",
        "release",
        "renew",
        "requeue_dead",
    }
)


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(f"{name}.lua").read_text(encoding="utf-8")


@cache
def script(name: str) -> str:
    """Return the text of a script, its shebang line first as the server demands.

    Without comments and indentation: the server hashes the whole text at every call.
    """
    shebang, body = _read(name).split("\n", 1)
    prelude = _read("queue_moves") if name in _MOVES_JOBS else ""
    lines = (line.strip() for line in f"{prelude}{body}".splitlines())
    return "\n".join([shebang, *(line for line in lines if line and not line.startswith("--"))])
