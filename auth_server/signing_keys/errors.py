"""Refusals about signing keys."""

from __future__ import annotations

from shared.kernel.errors import Unavailable


class SealBroken(Unavailable):
    """The signing keys were sealed with another key file. Put the file back that belongs to this database."""

    code = "signing_keys_sealed"
