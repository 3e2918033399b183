"""Who holds things in a sample: made-up names, maintainers, contacts and keys."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from registry_server.samples.rules.text import Line, file_of
from registry_server.samples.schemas import SampleFile

_ONSETS = "b br d dr f fl g gr h k kl l m n p pr r s st t tr v w z".split()  # noqa: SIM905
_VOWELS = "a e i o u ai ei ou".split()  # noqa: SIM905
_CODAS = ["", "", "l", "n", "r", "s", "x", "rn", "sk"]
_NON_ASCII = ("Zürich rack, ground floor", "Ślimak łącze zapasowe", "备用线路", "Ærø relay · røde hus")
#: Shares counted in a registry of this kind.
_WITHOUT_AUTH = 0.37
_DIGIT_FIRST = 0.016
_NON_ASCII_SHARE = 0.025
_RSA, _PGP = 0.26, 0.54
#: The first placeholders, then the neighbouring block.
_FIRST_ASNS = range(4242429900, 4242430000)
_MORE_ASNS = range(4242420000, 4242424000)


@dataclass(slots=True)
class Holder:
    """One made-up operator and what it holds."""

    name: str
    asns: list[int] = field(default_factory=list)

    @property
    def mntner(self) -> str:
        """Key of its maintainer."""
        return f"{self.name}-MNT"

    @property
    def person(self) -> str:
        """Key of its contact."""
        return f"{self.name}-DN42"

    def owned(self) -> list[Line]:
        """The lines that end every object of this holder."""
        return [
            ("admin-c", self.person),
            ("tech-c", self.person),
            ("mnt-by", self.mntner),
            ("source", "DN42"),
        ]


def names(random: Random) -> Iterator[str]:
    """Names that were never used before, without end; a few start with a digit."""
    used: set[str] = set()
    while True:
        syllables = (
            random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_CODAS)
            for _ in range(random.randint(2, 3))
        )
        name = "".join(syllables).upper()
        if random.random() < _DIGIT_FIRST:
            name = f"0{name}"
        if name not in used:
            used.add(name)
            yield name


def asns(random: Random) -> Iterator[int]:
    """AS numbers in random order: the placeholders, then their neighbours, then other private ones."""
    for block in (_FIRST_ASNS, _MORE_ASNS):
        yield from random.sample(block, len(block))
    yield from range(4200000000, 4242420000)


def mntner(random: Random, holder: Holder) -> SampleFile:
    """The holder's maintainer object, maintained by itself."""
    auth = (
        [] if random.random() < _WITHOUT_AUTH else [_auth(random, holder) for _ in range(_auth_count(random))]
    )
    lines = [
        ("mntner", holder.mntner),
        ("descr", f"{holder.name.capitalize()} network"),
        ("admin-c", holder.person),
        ("tech-c", holder.person),
        *(("auth", value) for value in auth),
        ("mnt-by", holder.mntner),
        ("source", "DN42"),
    ]
    return file_of("mntner", holder.mntner, lines)


def person(random: Random, holder: Holder) -> SampleFile:
    """The holder's contact; some write in their own script, some need several lines."""
    host = f"{holder.name.lower()}.example"
    remarks: list[Line] = []
    if random.random() < _NON_ASCII_SHARE:
        remarks.append(("remarks", random.choice(_NON_ASCII)))
    elif random.random() < _NON_ASCII_SHARE:
        remarks += [("remarks", "Peers welcome,"), ("", "write first: we answer slowly"), ("", "but surely.")]
    lines = [
        ("person", f"{holder.name.capitalize()} Example"),
        ("e-mail", f"noc@{host}"),
        ("www", f"https://{host}/"),
        ("nic-hdl", holder.person),
        *remarks,
        ("mnt-by", holder.mntner),
        ("source", "DN42"),
    ]
    return file_of("person", holder.person, lines)


def _auth_count(random: Random) -> int:
    return random.choices((1, 2, 3, 6), weights=(80, 15, 4, 1))[0]


def _auth(random: Random, holder: Holder) -> str:
    kind = random.random()
    if kind < _PGP:
        return f"pgp-fingerprint {random.randbytes(20).hex().upper()}"
    comment = random.choice(("", f" {holder.name.lower()}@laptop.example", " key of the night shift"))
    if kind < _PGP + _RSA:
        return "ssh-rsa " + _key("ssh-rsa", b"\x01\x00\x01", b"\x00\x80" + random.randbytes(255)) + comment
    return "ssh-ed25519 " + _key("ssh-ed25519", random.randbytes(32)) + comment


def _key(kind: str, *fields: bytes) -> str:
    """A public key blob as of RFC 4253, section 6.6, that belongs to nobody."""
    wire = b"".join(len(part).to_bytes(4) + part for part in (kind.encode(), *fields))
    return base64.b64encode(wire).decode()
