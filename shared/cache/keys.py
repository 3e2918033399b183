"""Key families: every key of both tiers is declared, and built only from its declaration."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cached_property

from shared.cache.tier import Tier

_PLACEHOLDER = re.compile(r"<([a-z][a-z0-9_]*)>")
#: What a part may contain as it is; all else is percent-encoded, so that no part reaches past its place.
_PLAIN = re.compile(rb"[A-Za-z0-9._-]")
_ALL_PLAIN = re.compile(rb"[A-Za-z0-9._-]+")
_SEPARATORS = ":/"
_LONGEST_PART = 128
#: Suffix of the key that says which process is filling an entry.
FILL_MARK = ":fill"


class Kind(StrEnum):
    """What a value is, and so which codec and operations it takes."""

    JSON = "json"
    TEXT = "text"
    COUNTER = "counter"
    VERSION = "version"
    LIST = "list"
    LOG = "log"
    CHANNEL = "channel"
    FOREIGN = "foreign"


@dataclass(frozen=True, kw_only=True)
class KeyFamily:
    """One row of the key reference. `pattern` is literal text with `<part>` places."""

    name: str
    pattern: str
    tier: Tier
    database: int
    kind: Kind
    #: None only for channels, versions and foreign keys.
    ttl: timedelta | None
    writer: str
    purpose: str
    loss: str
    restart: str = ""
    #: How long "there is nothing" is remembered; None remembers it not at all.
    negative_ttl: timedelta | None = None
    #: The most items of a list, or bytes of a value.
    cap: int | None = None
    #: Whether a wrong or missing entry could change an answer.
    correctness: bool = False
    #: Who owns keys that we never write; they stand in the reference and in the runtime gate only.
    foreign_owner: str | None = None
    schema_version: int = 1
    #: The TTL varies by this share either way, so that entries written together do not expire together.
    jitter: float = 0.0
    #: How long past its TTL a value may answer when loading fails.
    stale_ttl: timedelta | None = None
    #: How long a failed load is not repeated by this process.
    error_ttl: timedelta = timedelta(seconds=1)
    #: Refresh before expiry with a probability that rises towards it (XFetch).
    early_refresh: bool = False
    #: A hit in the last part of its TTL is answered and loaded anew beside that. For keys that are read a few
    #: times a TTL, where the probability above comes to nothing and every expiry would be a miss.
    refresh_ahead: bool = False
    #: A hit in the last part of its TTL gets the whole TTL again: for values that never change under their
    #: key, where the TTL only removes what nobody reads any more.
    renewed: bool = False
    #: Only one process at a time loads an entry, as far as that can be had without failing anybody.
    fill_token: bool = False

    def __post_init__(self) -> None:
        """Refuse declarations whose keys could be mistaken for one another, or live for ever."""
        if self.foreign_owner is None:
            self._check_places()
            timeless = self.kind in {Kind.CHANNEL, Kind.VERSION}
            if (self.ttl is None) != timeless:
                raise ValueError(f"{self.name}: a {self.kind} family has {'no' if timeless else 'a'} TTL")
        if not 0 <= self.jitter <= 0.1:  # noqa: PLR2004 - the key index allows a tenth
            raise ValueError(f"{self.name}: the TTL may vary by a tenth at most")
        if self.renewed and self.ttl is None:
            raise ValueError(f"{self.name}: what has no TTL needs no renewal")

    @property
    def timed(self) -> bool:
        """Whether readers look at what is left of the TTL."""
        return self.early_refresh or self.refresh_ahead or self.renewed or self.stale_ttl is not None

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names that `key()` takes, in order."""
        return tuple(_PLACEHOLDER.findall(self.pattern))

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """Matches exactly the names of this family's keys."""
        part = r"(?:[A-Za-z0-9._%~-]+)" if self.foreign_owner is None else r"(?:.+)"
        pieces = _PLACEHOLDER.split(self.pattern)
        text = "".join(part if index % 2 else re.escape(piece) for index, piece in enumerate(pieces))
        return re.compile(text + (f"(?:{FILL_MARK})?" if self.fill_token else ""))

    @property
    def glob(self) -> str:
        """The pattern for SCAN: wider than the family, so what it finds is matched again."""
        pieces = _PLACEHOLDER.split(self.pattern)
        return "".join("*" if index % 2 else escape_glob(piece) for index, piece in enumerate(pieces))

    def key(self, **parts: str | int) -> Key:
        """Name one key. Whatever the parts hold, two different calls never name the same key."""
        if self.foreign_owner is not None:
            raise ValueError(f"{self.name} belongs to {self.foreign_owner}: its keys are never built here")
        if parts.keys() != set(self.parts):
            raise ValueError(f"{self.name} takes {', '.join(self.parts) or 'no parts'}")
        name = _PLACEHOLDER.sub(lambda place: encode_part(parts[place[1]]), self.pattern)
        return Key(self, name)

    def _check_places(self) -> None:
        for found in _PLACEHOLDER.finditer(self.pattern):
            after = self.pattern[found.end() : found.end() + 1]
            if after and after not in _SEPARATORS:
                raise ValueError(f"{self.name}: the part <{found[1]}> must be followed by ':' or '/'")
        if len(set(self.parts)) != len(self.parts):
            raise ValueError(f"{self.name}: a part is named twice")


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a declared family. Its name is not shown: it can hold a digest of a secret."""

    family: KeyFamily
    name: str = field(repr=False)

    def __str__(self) -> str:
        """Name the family alone, so that a log cannot tell more."""
        return f"<key of {self.family.name}>"


class KeyRegistry:
    """The families of a service, or of all of them; no two may name the same key."""

    def __init__(self, *families: KeyFamily) -> None:
        self._families: dict[str, KeyFamily] = {}
        for family in families:
            self.add(family)

    def __iter__(self) -> Iterator[KeyFamily]:
        return iter(self._families.values())

    def __getitem__(self, name: str) -> KeyFamily:
        return self._families[name]

    def add(self, family: KeyFamily) -> KeyFamily:
        """Take a family in, and give it back, so that declaring and registering are one line."""
        if family.name in self._families:
            raise ValueError(f"{family.name} is declared twice")
        for other in self:
            if _same_place(family, other) and _may_collide(family.pattern, other.pattern):
                raise ValueError(f"{family.name} and {other.name} could name the same key")
        self._families[family.name] = family
        return family

    def update(self, families: KeyRegistry) -> None:
        """Take in every family of another registry."""
        for family in families:
            self.add(family)

    def find(self, tier: Tier, database: int, name: str) -> KeyFamily | None:
        """The family a stored key belongs to; None for a key that nobody declared."""
        for family in self:
            here = (family.tier, family.database) == (tier, database)
            if here and family.kind is not Kind.CHANNEL and family.expression.fullmatch(name):
                return family
        return None


def encode_part(part: str | int) -> str:
    """Write one part so that it holds no separator; a very long one by its digest."""
    raw = str(part).encode("utf-8", "surrogatepass")
    if not raw:
        raise ValueError("a part of a key is empty")
    if _ALL_PLAIN.fullmatch(raw):
        text = raw.decode("ascii")
    else:
        text = "".join(chr(byte) if _PLAIN.match(bytes((byte,))) else f"%{byte:02X}" for byte in raw)
    # "~" is not plain, so no shorter part can spell a digest.
    return text if len(text) <= _LONGEST_PART else "~" + hashlib.sha256(raw).hexdigest()


def escape_glob(text: str) -> str:
    """Make a text match only itself in SCAN."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", text)


def _same_place(one: KeyFamily, other: KeyFamily) -> bool:
    if (one.kind is Kind.CHANNEL) != (other.kind is Kind.CHANNEL):
        return False
    # Channels know no database: a name is heard in all of them.
    return one.tier == other.tier and (one.kind is Kind.CHANNEL or one.database == other.database)


def _may_collide(one: str, other: str) -> bool:
    """Whether some key fits both patterns; parts never hold a separator, so places compare one by one."""
    mine, theirs = re.split("[:/]", one), re.split("[:/]", other)
    return len(mine) == len(theirs) and all(map(_places_overlap, mine, theirs))


def _places_overlap(one: str, other: str) -> bool:
    heads = one.split("<", 1)[0], other.split("<", 1)[0]
    if "<" in one and "<" in other:
        return heads[0].startswith(heads[1]) or heads[1].startswith(heads[0])
    if "<" in one:
        return other.startswith(heads[0]) and other != heads[0]
    if "<" in other:
        return one.startswith(heads[1]) and one != heads[1]
    return one == other
