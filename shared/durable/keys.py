"""The keys under one prefix, and the hash slot that they share in a cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import uuid4

from shared.durable.errors import IdentifierRefusedError, PrefixRefusedError

_IDENTIFIER = re.compile(r"[A-Za-z0-9._:@/+=,~-]{1,200}")
_SLOTS = 16_384


def check_identifier(text: str) -> str:
    """Return the identifier, or refuse it; `index` would collide with the index keys."""
    if not _IDENTIFIER.fullmatch(text) or text == "index":
        raise IdentifierRefusedError
    return text


@dataclass(frozen=True, slots=True)
class DurableKeys:
    """Builds every key of one prefix."""

    prefix: str

    @property
    def queue(self) -> tuple[str, ...]:
        """The queue's structures in the order in which its scripts take them."""
        names = ("pending", "delayed", "jobs", "leases", "lease-expiry", "dead", "counters", "errors")
        return tuple(f"{self.prefix}:queue:{name}" for name in names)

    @property
    def queue_doorbell(self) -> str:
        return f"{self.prefix}:queue:doorbell"

    def queue_dedupe(self, key: str) -> str:
        return f"{self.prefix}:queue:dedupe:{check_identifier(key)}"

    @property
    def fence(self) -> tuple[str, str]:
        """The two keys that tell who holds a job."""
        return f"{self.prefix}:queue:leases", f"{self.prefix}:queue:lease-expiry"

    def checkpoint(self, run_id: str) -> str:
        return f"{self.prefix}:checkpoints:{check_identifier(run_id)}"

    def staged_checkpoint(self, run_id: str) -> str:
        """A key that nobody else uses, in the slot of the checkpoint that it is to become."""
        key = self.checkpoint(run_id)
        tag = "" if "{" in key or "}" in key else f"{{{key}}}:"
        return f"{self.prefix}:staging:{tag}{uuid4().hex}"

    @property
    def checkpoint_index(self) -> str:
        return f"{self.prefix}:checkpoints:index"

    def run(self, run_id: str) -> str:
        return f"{self.prefix}:runs:{check_identifier(run_id)}"

    @property
    def run_index(self) -> str:
        return f"{self.prefix}:runs:index"

    def events(self, run_id: str) -> str:
        return f"{self.prefix}:events:{check_identifier(run_id)}"

    def context(self, run_id: str) -> str:
        return f"{self.prefix}:contexts:{check_identifier(run_id)}"


def _crc16(data: bytes) -> int:
    """CRC-16/XMODEM, the checksum of the cluster specification."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def slot_of(key: str) -> int:
    """The hash slot of a key: of its first non-empty tag in braces, else of the whole key."""
    raw = key.encode()
    opened = raw.find(b"{")
    if opened >= 0:
        closed = raw.find(b"}", opened + 1)
        if closed > opened + 1:
            raw = raw[opened + 1 : closed]
    return _crc16(raw) % _SLOTS


def check_shared_slot(prefix: str) -> int:
    """Return the one slot of all keys of this prefix, or refuse the prefix with the reason."""
    opened = prefix.find("{")
    closed = prefix.find("}", opened + 1)
    if opened < 0:
        reason = "has no hash tag"
    elif closed < 0:
        reason = "opens a hash tag and does not close it"
    elif closed == opened + 1:
        reason = "has an empty hash tag, which the cluster ignores"
    else:
        return slot_of(prefix)
    raise PrefixRefusedError(
        f"The prefix {prefix!r} {reason}: in a cluster its keys would lie in different slots and every "
        "multi-key script would be refused. Put a fixed tag into the prefix, such as 'routeloom:{durable}'."
    )
