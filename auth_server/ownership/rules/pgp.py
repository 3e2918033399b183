"""What gpg reported of a signature, judged: nothing counts but one good signature by a listed, living key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from auth_server.ownership.errors import (
    CheckTimedOut,
    KeyEnded,
    KeyNotListed,
    SignatureMistimed,
    SignatureRefused,
    SignatureWrong,
    WeakDigest,
    WeakKey,
)
from auth_server.ownership.schemas import SignedBy, Window
from shared.protocol.registry import AuthLine

#: A machine's clock may differ from ours by so much.
CLOCK_SKEW = timedelta(minutes=2)
_FINGERPRINT = re.compile(r"[0-9A-F]{40}", re.ASCII)
#: RFC 9580, section 9.5: SHA-256, SHA-384, SHA-512, SHA-224.
_DIGESTS = frozenset({"8", "9", "10", "11"})
#: RFC 9580, section 9.1: RSA; ECDSA, EdDSA (legacy), Ed25519, Ed448.
_RSA = "1"
_CURVES = frozenset({"19", "22", "27", "28"})
_SMALLEST_RSA_KEY = 2048
#: A signature over the bytes as they are, or over a text.
_CLASSES = frozenset({"00", "01"})
#: Letters of a listing for keys that are expired, revoked, disabled or invalid.
_NOT_GOOD = frozenset("erdi")
_ENDED = frozenset({"EXPKEYSIG", "REVKEYSIG"})
_NO_SUCH_KEY = "9"


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A primary key or subkey, as gpg lists it."""

    fingerprint: str
    primary: str
    algorithm: str
    bits: int
    validity: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class PgpReport:
    """Everything that gpg said of one signature."""

    #: Keyword and the rest of each status line, in order.
    statuses: tuple[tuple[str, str], ...]
    #: The library's own verdict.
    valid: bool
    #: The bytes that the signature was verified over.
    verified: bytes
    keys: tuple[ListedKey, ...] = ()
    timed_out: bool = False

    def values(self, keyword: str) -> list[str]:
        """What stands behind each status of this keyword."""
        return [value for found, value in self.statuses if found == keyword]


@dataclass(frozen=True, slots=True)
class _Made:
    """A VALIDSIG line (GnuPG's DETAILS)."""

    key: str
    primary: str
    at: datetime
    digest: str
    kind: str

    @classmethod
    def read(cls, text: str) -> _Made:
        fields = text.split()
        if len(fields) < 10:  # noqa: PLR2004 - the tenth is the primary key
            raise SignatureWrong
        at = datetime.fromtimestamp(int(fields[2]), UTC)
        return cls(key=fields[0], primary=fields[9], at=at, digest=fields[7], kind=fields[8])


def pgp_lines(lines: Iterable[AuthLine], certified: Mapping[str, str]) -> dict[str, AuthLine]:
    """The lines by primary fingerprint; `certified` tells the fingerprints of key certificates by name.

    The name of a certificate ends with its key's id. A name alone, however long, lists nothing.
    """
    listed: dict[str, AuthLine] = {}
    for line in lines:
        if line.method == "pgp-fingerprint" and _FINGERPRINT.fullmatch(line.value):
            listed.setdefault(line.value, line)
        elif line.method == "pgpkey" and line.value in certified:
            fingerprint = certified[line.value]
            if fingerprint.endswith(line.value.removeprefix("PGPKEY-")):
                listed.setdefault(fingerprint, line)
    return listed


def judge(
    report: PgpReport,
    forms: Collection[bytes],
    listed: Mapping[str, AuthLine],
    window: Window,
    now: datetime,
) -> SignedBy:
    """The line whose key made the one good signature. Raises SignatureRefused."""
    if report.timed_out:
        raise CheckTimedOut
    made = _one_good_signature(report)
    line = listed.get(made.primary) if _FINGERPRINT.fullmatch(made.primary) else None
    if line is None:
        raise KeyNotListed
    _check_keys(report.keys, made, now)
    if made.digest not in _DIGESTS:
        raise WeakDigest
    if made.kind not in _CLASSES or report.verified not in forms:
        raise SignatureWrong
    _check_time(made.at, window, now)
    return SignedBy(line.method, line.value, made.primary)


def _one_good_signature(report: PgpReport) -> _Made:
    refusal = _refusal(report)
    if refusal is not None:
        raise refusal
    counts = [len(report.values(keyword)) for keyword in ("NEWSIG", "GOODSIG", "VALIDSIG")]
    if counts != [1, 1, 1] or report.valid is not True:
        raise SignatureWrong
    return _Made.read(report.values("VALIDSIG")[0])


def _refusal(report: PgpReport) -> SignatureRefused | None:
    said = {keyword for keyword, _ in report.statuses}
    if said & _ENDED:
        return KeyEnded()
    if "EXPSIG" in said:
        return SignatureMistimed()
    if "BADSIG" in said:
        return SignatureWrong()
    for error in report.values("ERRSIG"):
        # key id, algorithm, digest, class, time, code; another code means an algorithm gpg will not use
        return KeyNotListed() if _NO_SUCH_KEY in error.split()[5:6] else WeakDigest()
    return None


def _check_keys(keys: Sequence[ListedKey], made: _Made, now: datetime) -> None:
    """The key that signed and its primary key are alive and strong, now."""
    by_fingerprint = {key.fingerprint: key for key in keys}
    for fingerprint in (made.key, made.primary):
        key = by_fingerprint.get(fingerprint)
        if key is None or key.primary != made.primary:
            raise KeyNotListed
        if key.validity in _NOT_GOOD or (key.expires_at is not None and key.expires_at <= now):
            raise KeyEnded
        strong = key.algorithm in _CURVES or (key.algorithm == _RSA and key.bits >= _SMALLEST_RSA_KEY)
        if not strong:
            raise WeakKey


def _check_time(at: datetime, window: Window, now: datetime) -> None:
    if not window.begins - CLOCK_SKEW <= at <= min(now, window.ends) + CLOCK_SKEW:
        raise SignatureMistimed
