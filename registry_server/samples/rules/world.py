"""The tip of a sample: every file, with what a reader must make of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

from registry_server.samples.rules import blocks, people
from registry_server.samples.rules.mistakes import mistakes
from registry_server.samples.rules.people import Holder
from registry_server.samples.rules.schemas import schemas
from registry_server.samples.rules.slips import SLIPS
from registry_server.samples.rules.text import Line, file_of, path_of, render
from registry_server.samples.schemas import SampleFile

#: Shares of a registry of this kind; what is left are sets, organisations, names and blocks of numbers.
_MNTNER, _AUT_NUM, _INETNUM, _INET6NUM, _ROUTE, _ROUTE6 = 0.14, 0.15, 0.14, 0.11, 0.12, 0.11
_SMALL = 0.09
_SHARED_MAINTAINERS = ("DN42-MNT", "DUMMY-MNT")
_AS_BLOCKS = (
    ("AS0", "AS4294967295", "closed"),
    ("AS4242420000", "AS4242423999", "open"),
    ("AS4242427000", "AS4242429999", "ask"),
)
#: The largest set, which some join by themselves; AS 0 is in it, as happens.
_CROWD, _LARGEST_SET = "AS-CROWD", 87
#: One AS number in so many has a second maintainer.
_HELPED = 100
_README = (
    b"# A made-up registry\n\nNothing in here belongs to anybody. It was generated; change it as you like.\n"
)


def build(random: Random, objects: int) -> list[SampleFile]:
    """About so many objects, in a stable order."""
    holders = _holders(random, objects)
    files = [*_fixed(), *_registrations(random, holders, objects), *_small(random, holders, objects)]
    files += mistakes(random, holders, objects)
    files += _slips(random, holders, objects)
    return files


def _holders(random: Random, objects: int) -> list[Holder]:
    names, numbers = people.names(random), people.asns(random)
    holders = [Holder(name) for name in islice(names, int(objects * _MNTNER))]
    for index, asn in enumerate(islice(numbers, int(objects * _AUT_NUM))):
        (holders[index] if index < len(holders) else random.choice(holders)).asns.append(asn)
    return holders


def _fixed() -> Iterator[SampleFile]:
    yield SampleFile(b"README.md", _README)
    yield SampleFile(b"data/filter.txt", blocks.FILTER4.encode())
    yield SampleFile(b"data/filter6.txt", blocks.FILTER6.encode())
    for name in _SHARED_MAINTAINERS:
        yield file_of("mntner", name, [("mntner", name), ("mnt-by", "DN42-MNT"), ("source", "DN42")])
    for name in ("DN42", "ICVPN"):
        yield file_of("registry", name, [("registry", name), ("mnt-by", "DN42-MNT"), ("source", "DN42")])
    yield from schemas()
    for network in (*blocks.ROOTS4, *blocks.ROOTS6):
        yield blocks.root(network, "open")
    for first, last, policy in _AS_BLOCKS:
        key = f"{first}-{last}"
        lines = [
            ("as-block", f"{first} - {last}"),
            ("policy", policy),
            ("mnt-by", "DN42-MNT"),
            ("source", "DN42"),
        ]
        yield SampleFile(path_of("as-block", key), render(lines), "as-block")


def _registrations(random: Random, holders: list[Holder], objects: int) -> Iterator[SampleFile]:
    for holder, neighbour in zip(holders, [*holders[1:], holders[0]], strict=True):
        yield people.mntner(random, holder)
        yield people.person(random, holder)
        for asn in holder.asns:
            joined = [("member-of", _CROWD)] if holder is holders[0] else []
            helped = [("mnt-by", neighbour.mntner)] if asn % _HELPED == 0 else []
            named = [("aut-num", f"AS{asn}"), ("as-name", f"{holder.name}-AS")]
            lines = [*named, *joined, *helped, *holder.owned()]
            yield file_of("aut-num", f"AS{asn}", lines)
    everyone = [asn for holder in holders for asn in holder.asns]
    networks4 = list(islice(blocks.blocks4(random), int(objects * _INETNUM)))
    networks6 = list(islice(blocks.blocks6(random), int(objects * _INET6NUM)))
    routed: set[blocks.Network] = {*networks4[: int(objects * _ROUTE)], *networks6[: int(objects * _ROUTE6)]}
    networks: list[blocks.Network] = [*networks4, *networks6]
    for network in networks:
        holder = random.choice(holders)
        yield blocks.inetnum(network, holder.name, holder.owned())
        if network in routed:
            yield blocks.route(random, network, holder, everyone)


def _small(random: Random, holders: list[Holder], objects: int) -> Iterator[SampleFile]:
    """Sets that contain each other, organisations, roles and names."""
    yield from _cycle(holders)
    for index in range(int(objects * _SMALL / 4)):
        holder = random.choice(holders)
        members: list[Line] = [
            ("members", f"AS{asn}")
            for other in random.sample(holders, min(5, len(holders)))
            for asn in other.asns
        ]
        name = f"AS-{holder.name}-{index}"
        key = f"AS{holder.asns[0]}:{name}" if index % 5 == 0 and holder.asns else name
        yield file_of(
            "as-set", key, [("as-set", key), *members, ("mbrs-by-ref", holder.mntner), *holder.owned()]
        )
        key = f"ORG-{holder.name}-{index}"
        yield file_of(
            "organisation", key, [("organisation", key), ("org-name", holder.name), *holder.owned()]
        )
        key = f"NOC-{holder.name}-{index}-DN42"
        abuse = ("abuse-mailbox", f"abuse@{holder.name.lower()}.example")
        yield file_of("role", key, [("role", "Night shift"), ("nic-hdl", key), abuse, *holder.owned()])
        key = f"{holder.name.lower()}-{index}.dn42"
        server = ("nserver", f"ns1.{key} 172.20.0.53")
        yield file_of("domain", key, [("domain", key), server, *holder.owned()])


def _cycle(holders: list[Holder]) -> Iterator[SampleFile]:
    end = [("mnt-by", "DN42-MNT"), ("source", "DN42")]
    member = ("members", f"AS{holders[0].asns[0]}   # the first of us")
    for name, other in (("AS-EGG", "AS-HEN"), ("AS-HEN", "AS-EGG"), ("AS-MIRROR", "AS-MIRROR")):
        yield file_of("as-set", name, [("as-set", name), member, ("members", other), *end])
    crowd = [("members", f"AS{asn}") for holder in holders for asn in holder.asns][:_LARGEST_SET]
    lines = [("as-set", _CROWD), ("members", "AS0"), *crowd, ("mbrs-by-ref", "ANY")]
    yield file_of("as-set", _CROWD, [*lines, *end])
    yield file_of("aut-num", "AS0", [("aut-num", "AS0"), ("as-name", "NOBODY-AS"), *end])
    ranges = [("mp-members", "172.20.0.0/14+"), ("mp-members", "fd00::/8+"), ("mbrs-by-ref", "DN42-MNT")]
    yield file_of("route-set", "RS-EVERYTHING", [("route-set", "RS-EVERYTHING"), *ranges, *end])


def _slips(random: Random, holders: list[Holder], objects: int) -> Iterator[SampleFile]:
    number = 0
    for slip, share in SLIPS:
        for _ in range(max(1, share * objects // 20_000)):
            key = f"SLIP-{number}-DN42"
            end = [("mnt-by", random.choice(holders).mntner), ("source", "DN42")]
            raw, planted = slip(render([("person", "Somebody Example"), ("nic-hdl", key), *end]))
            yield SampleFile(path_of("person", key), raw, "person", problems=planted)
            number += 1
