"""Opaque bearer secrets: minted once, shown once, stored only as a hash.

The prefix lets a secret scanner find a leaked one:
`rle_` enrolment, `rlg_` agent, `rlp_` personal access, `rls_` session link, `rlc_` code, `rlr_` refresh.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

from shared.kernel.ids import short_id

_FORM = re.compile(r"(?P<prefix>rl[a-z])_(?P<id>[0-9a-z]{12})_(?P<secret>[A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True)
class BearerSecret:
    """A freshly minted secret. `text` is for its holder only; keep `id` and `digest`."""

    id: str
    text: str = field(repr=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the whole text in hex: what is stored and what is looked up."""
        return digest_of(self.text)


def mint(prefix: str) -> BearerSecret:
    """Make `<prefix>_<id>_<secret>` with 256 bits of randomness in the secret."""
    ident = short_id(12)
    return BearerSecret(id=ident, text=f"{prefix}_{ident}_{secrets.token_urlsafe(32)}")


def digest_of(text: str) -> str:
    """SHA-256 in hex; enough for secrets that are random, not chosen by people."""
    return hashlib.sha256(text.encode()).hexdigest()


def matches(text: str, digest: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(digest_of(text), digest)


def identify(text: str, prefix: str) -> str | None:
    """The id inside a well-formed secret of this kind, or None."""
    found = _FORM.fullmatch(text)
    return found["id"] if found and found["prefix"] == prefix else None


def redact(text: str) -> str:
    """Replace every secret in a text by its prefix and id, for logs and messages."""
    return _FORM.sub(lambda found: f"{found['prefix']}_{found['id']}_[redacted]", text)
