"""A registry with routes, sets and filters, written by hand."""

from __future__ import annotations

from tests.integration.registry.upstream import Content

END = "mnt-by:             FOO-MNT\nsource:             DN42\n"


def thing(object_class: str, key: str, *lines: str, end: str = END) -> bytes:
    rows = [f"{object_class}: {key}", *lines]
    text = "".join(
        f"{name + ':':<20}{value.strip()}\n" for name, _, value in (row.partition(":") for row in rows)
    )
    return (text + end).encode()


def aut_num(number: int, *lines: str) -> bytes:
    return thing("aut-num", f"AS{number}", "as-name:FOO-AS", *lines)


def route(prefix: str, *origins: int, more: tuple[str, ...] = ()) -> bytes:
    object_class = "route6" if ":" in prefix else "route"
    return thing(object_class, prefix, *(f"origin:AS{origin}" for origin in origins), *more)


def inetnum(prefix: str, span: str, name: str) -> bytes:
    object_class = "inet6num" if ":" in prefix else "inetnum"
    return thing(object_class, span, f"cidr:{prefix}", f"netname:{name}")


FILTERS: dict[str | bytes, Content] = {
    "data/filter.txt": b"1 deny 172.22.166.0/24 24 32\n2 permit 172.20.0.0/14 21 29\n9 deny 0.0.0.0/0 0 32\n",
    "data/filter6.txt": b"1 permit fd00::/8 44 64\n9 deny ::/0 0 128\n",
}
FILES: dict[str | bytes, Content] = {
    **FILTERS,
    "data/mntner/FOO-MNT": thing("mntner", "FOO-MNT", "auth:ssh-ed25519 AAAA foo"),
    "data/mntner/BAR-MNT": thing("mntner", "BAR-MNT"),
    "data/mntner/0BAZ-MNT": thing("mntner", "0BAZ-MNT", end="mnt-by:             0BAZ-MNT\nsource: DN42\n"),
    "data/person/FOO-DN42": thing("person", "Foo Example", "nic-hdl:FOO-DN42"),
    "data/as-block/AS4242420000-AS4242429999": thing(
        "as-block", "AS4242420000 - AS4242429999", "policy:open"
    ),
    "data/aut-num/AS4242429901": aut_num(4242429901, "admin-c:FOO-DN42"),
    "data/aut-num/AS4242429902": aut_num(4242429902, "member-of:AS-TEST"),
    "data/aut-num/AS4242429903": aut_num(4242429903),
    "data/dns/foo.dn42": thing("domain", "foo.dn42", "nserver:ns1.foo.dn42 172.20.0.53"),
    "data/inetnum/172.20.0.0_14": inetnum("172.20.0.0/14", "172.20.0.0 - 172.23.255.255", "ROOT-NET"),
    "data/inetnum/172.20.0.0_23": inetnum("172.20.0.0/23", "172.20.0.0 - 172.20.1.255", "FOO-NET"),
    "data/route/172.20.0.0_23": route("172.20.0.0/23", 4242429903),
    "data/route/172.20.0.0_24": route("172.20.0.0/24", 4242429901, 4242429902, more=("max-length:26",)),
    "data/route/172.20.1.0_27": route("172.20.1.0/27", 4242429901, more=("member-of:RS-TEST",)),
    "data/route6/fd42:1::_48": route("fd42:1::/48", 4242429901),
    "data/as-set/AS-TEST": thing(
        "as-set", "AS-TEST", "members:AS4242429901, AS-SUB", "members:AS-GONE", "mbrs-by-ref:FOO-MNT"
    ),
    "data/as-set/AS-SUB": thing(
        "as-set", "AS-SUB", "members:AS-TEST", "members:AS4242429903   # us", "members:AS-SUB"
    ),
    "data/as-set/AS-EMPTY": thing("as-set", "AS-EMPTY"),
    "data/route-set/RS-TEST": thing(
        "route-set",
        "RS-TEST",
        "mp-members:172.20.0.0/16+",
        "mp-members:fd42::/16^48-64",
        "mp-members:fd42:9::/48^-",
        "mp-members:10.0.0.1/24",
        "mp-members:fd00::/8+",
        "members:AS4242429903",
        "members:AS-SUB",
        "members:RS-BELOW",
        "mbrs-by-ref:ANY",
    ),
    "data/route-set/RS-BELOW": thing(
        "route-set", "RS-BELOW", "mp-members:172.22.0.0/24", "mp-members:RS-TEST"
    ),
}
