"""Whether a forge sent this: the signatures of Forgejo, Gitea and GitHub, which are alike."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

#: Headers of a signature, with what stands before it.
_SIGNATURES = (("x-hub-signature-256", "sha256="), ("x-forgejo-signature", ""), ("x-gitea-signature", ""))


def is_signed(body: bytes, headers: Mapping[str, str], secret: str) -> bool:
    """Whether one of the headers signs the body with the secret (HMAC with SHA-256)."""
    wanted = hmac.digest(secret.encode(), body, "sha256").hex()
    given = [headers.get(name, "").removeprefix(prefix) for name, prefix in _SIGNATURES]
    return any(hmac.compare_digest(found.encode(), wanted.encode()) for found in given)
