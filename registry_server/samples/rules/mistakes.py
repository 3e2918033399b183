"""Mistakes in what an object says or where it stands, and how a reader must report them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from registry_server.samples.rules.people import Holder
from registry_server.samples.rules.text import Line, file_of, path_of, render
from registry_server.samples.schemas import Planted, SampleFile


@dataclass(frozen=True, slots=True)
class Desk:
    """Who makes the mistakes: a holder that exists, and a number that no two mistakes share."""

    holder: Holder
    number: int

    @property
    def end(self) -> list[Line]:
        """The last lines of every object."""
        return [("mnt-by", self.holder.mntner), ("source", "DN42")]

    @property
    def asn(self) -> str:
        """An AS that exists."""
        return f"AS{self.holder.asns[0]}"

    def block(self, length: int) -> str:
        """A network at the end of the common range, where no well-written block is."""
        return f"172.23.{self.number % 256}.0/{length}"

    def block6(self, subnet: str = "") -> str:
        """An IPv6 network that no well-written block uses: those have 40 random bits behind fd."""
        return f"fd00:{self.number + 1:x}{subnet}"


Mistake = Callable[[Desk], SampleFile]


def _route(
    desk: Desk, key: str, *lines: Line, routes: int = 0, planted: tuple[Planted, ...] = ()
) -> SampleFile:
    name = "route6" if ":" in key else "route"
    return file_of(name, key, [(name, key), *lines, *desk.end], routes=routes, problems=planted)


def _no_origin(desk: Desk) -> SampleFile:
    return _route(desk, desk.block(25), planted=(Planted("missing_attribute", None),))


def _host_bits(desk: Desk) -> SampleFile:
    key = desk.block(26).replace(".0/", ".129/")
    return _route(desk, key, ("origin", desk.asn), planted=(Planted("host_bits", 1),))


def _too_long(desk: Desk) -> SampleFile:
    return _route(desk, desk.block(33), ("origin", desk.asn), planted=(Planted("invalid_prefix", 1),))


def _quote_for_colon(desk: Desk) -> SampleFile:
    right, wrong = desk.block6("::/48"), desk.block6('":/48')
    lines = [("route6", wrong), ("origin", desk.asn), *desk.end]
    planted = (Planted("key_mismatch", 1), Planted("invalid_prefix", 1))
    return SampleFile(path_of("route6", right), render(lines), "route6", problems=planted)


def _not_canonical(desk: Desk) -> SampleFile:
    key = f"FD00:{desk.number + 1:04X}:0000::/48"
    return _route(desk, key, ("origin", desk.asn), routes=1, planted=(Planted("non_canonical_prefix", 1),))


def _double_as(desk: Desk) -> SampleFile:
    origin = ("origin", f"AS{desk.asn}")
    return _route(desk, desk.block(27), origin, planted=(Planted("invalid_origin", 2),))


def _same_origin_twice(desk: Desk) -> SampleFile:
    origin = ("origin", desk.asn)
    return _route(desk, desk.block(28), origin, origin, routes=1, planted=(Planted("repeated_origin", 3),))


def _origin_outside(desk: Desk) -> SampleFile:
    return _route(desk, desk.block(29), ("origin", "AS4242430000"), routes=1)


def _origin_zero(desk: Desk) -> SampleFile:
    return _route(desk, desk.block(30), ("origin", "AS0"), routes=1)


def _short_max_length(desk: Desk) -> SampleFile:
    lines = (("origin", desk.asn), ("max-length", "44"))
    planted = (Planted("max_length_too_short", 3),)
    return _route(desk, desk.block6(":1::/48"), *lines, routes=1, planted=planted)


def _max_length_range(desk: Desk) -> SampleFile:
    lines = (("origin", desk.asn), ("max-length", "48-64"))
    planted = (Planted("invalid_max_length", 3),)
    return _route(desk, desk.block6(":2::/48"), *lines, routes=1, planted=planted)


def _backward_range(desk: Desk) -> SampleFile:
    key = desk.block(24)
    first = key.removesuffix("/24")
    lines = [("inetnum", f"{first[:-1]}255 - {first}"), ("cidr", key), ("netname", "BACKWARD-NET"), *desk.end]
    return file_of("inetnum", key, lines, problems=(Planted("range_mismatch", 1),))


def _large_asn(desk: Desk) -> SampleFile:
    key = f"AS{42424290000 + desk.number}"
    lines = [("aut-num", key), ("as-name", "AS-TOO-LARGE"), *desk.end]
    return file_of("aut-num", key, lines, problems=(Planted("invalid_asn", 1),))


def _missing_member(desk: Desk) -> SampleFile:
    key = f"AS-HALF-EMPTY-{desk.number}"
    lines = [
        ("as-set", key),
        ("members", f"{desk.asn}   # us"),
        ("members", f"AS-GONE-{desk.number}"),
        *desk.end,
    ]
    return file_of("as-set", key, lines, problems=(Planted("dangling_reference", 3),))


def _contact(desk: Desk, key: str) -> list[Line]:
    return [("person", "Somebody Example"), ("nic-hdl", key), *desk.end]


def _person_among_mntners(desk: Desk) -> SampleFile:
    key = f"ASTRAY-{desk.number}-DN42"
    lines = _contact(desk, key)
    return SampleFile(path_of("mntner", key), render(lines), "mntner", problems=(Planted("wrong_class", 1),))


def _key_first(desk: Desk) -> SampleFile:
    key = f"TURNED-{desk.number}-DN42"
    lines = _contact(desk, key)
    lines[0], lines[1] = lines[1], lines[0]
    return file_of("person", key, lines, problems=(Planted("wrong_first_attribute", 1),))


def _two_sources(desk: Desk) -> SampleFile:
    key = f"TWICE-{desk.number}-DN42"
    lines = [*_contact(desk, key), ("source", "DN42")]
    return file_of("person", key, lines, problems=(Planted("repeated_attribute", 5),))


def _small_file_name(desk: Desk) -> SampleFile:
    key = f"SMALL-{desk.number}-DN42"
    raw = render(_contact(desk, key))
    return SampleFile(path_of("person", key.lower()), raw, "person", problems=(Planted("key_case", 2),))


def _misspelt_source(desk: Desk) -> SampleFile:
    key = f"SOURCE-{desk.number}-DN42"
    lines = [*_contact(desk, key)[:-1], ("source", "DN4")]
    return file_of("person", key, lines, problems=(Planted("unknown_source", 4),))


def _odd_auth(desk: Desk) -> SampleFile:
    key = f"LEGACY-{desk.number}-MNT"
    lines = [
        ("mntner", key),
        ("auth", "ssh-ed5519 AAAAC3NzaC1lZDI1NTE5AAAAIMistyped"),
        ("auth", "MTN-OLD"),
        ("auth", "pgp-fingerprint: 0123456789ABCDEF0123456789ABCDEF01234567"),
        ("auth", "#ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOutOfUse"),
        ("mnt-by", key),
        ("source", "DN42"),
    ]
    planted = (*(Planted("unknown_auth_method", line) for line in (2, 3, 4)), Planted("commented_auth", 5))
    return file_of("mntner", key, lines, problems=planted)


def _leading_space(desk: Desk) -> SampleFile:
    key = f"AS{4242425000 + desk.number}"
    lines = [("aut-num", key), ("as-name", "AS-SPACE"), *desk.end]
    return SampleFile(
        path_of("aut-num", f" {key}"), render(lines), "aut-num", problems=(Planted("odd_name", None),)
    )


def _inner_space(desk: Desk) -> SampleFile:
    key = f"WIDE {desk.number}-DN42"
    return SampleFile(
        path_of("person", key), render(_contact(desk, key)), "person", problems=(Planted("odd_name", None),)
    )


def _stray(path: str, code: str, raw: bytes = b"not an object\n") -> Mistake:
    def plant(desk: Desk) -> SampleFile:
        return SampleFile(path.format(desk.number).encode(), raw, problems=(Planted(code, None),))

    return plant


MISTAKES: tuple[tuple[Mistake, int], ...] = (
    (_no_origin, 2),
    (_host_bits, 10),
    (_too_long, 5),
    (_quote_for_colon, 1),
    (_not_canonical, 15),
    (_double_as, 6),
    (_same_origin_twice, 4),
    (_origin_outside, 1),
    (_origin_zero, 20),
    (_short_max_length, 4),
    (_max_length_range, 2),
    (_backward_range, 3),
    (_large_asn, 2),
    (_missing_member, 8),
    (_person_among_mntners, 1),
    (_key_first, 8),
    (_two_sources, 3),
    (_small_file_name, 3),
    (_misspelt_source, 5),
    (_odd_auth, 10),
    (_leading_space, 1),
    (_inner_space, 1),
    (_stray("data/person/.DS_Store@SynoResource", "dot_file"), 1),
    (_stray("data/.rpsl/config", "dot_file"), 1),
    (_stray("data/inetnum/.172.20.0.0_24.swp", "dot_file", b"b0VIM 8.2\x00\x00\x10"), 1),
    (_stray("data/pubring.kbx", "wrong_depth", b"\x00\x00\x00\x20\x01\x01"), 1),
    (_stray("data/notes-{0}.txt", "wrong_depth"), 1),
    (_stray("data/route6/fd6a:{0:x}::/64", "wrong_depth"), 1),
    (_stray("data/asset/AS-LOST-{0}", "unknown_class"), 1),
)


def mistakes(random: Random, holders: list[Holder], objects: int) -> Iterator[SampleFile]:
    """Every mistake at least once, and as often as its share asks for."""
    number = 0
    for mistake, share in MISTAKES:
        for _ in range(max(1, share * objects // 20_000)):
            yield mistake(Desk(random.choice(holders), number))
            number += 1
