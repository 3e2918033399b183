"""The schema objects of a sample: what its objects are made of, in the notation of such registries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from registry_server.samples.rules.text import Line, file_of
from registry_server.samples.schemas import SampleFile

_END: tuple[Line, ...] = (("mnt-by", "DN42-MNT"), ("source", "DN42"))
_MAINTAINED = "mnt-by required multiple lookup=dn42.mntner > [mntner]"
_CONTACTS = (
    "admin-c optional multiple lookup=dn42.person,dn42.role > [contact]",
    "tech-c optional multiple lookup=dn42.person,dn42.role > [contact]",
)
_LAST = (
    "descr optional single > [text]...",
    "remarks optional multiple > [text]...",
    "source required single lookup=dn42.registry > [registry]",
)
_NETWORK = (
    "cidr required single primary > [prefix]",
    "netname required single > [name]",
    "mnt-by optional multiple lookup=dn42.mntner > [mntner]",
    "mnt-lower optional multiple lookup=dn42.mntner > [mntner]",
    "mnt-routes optional multiple lookup=dn42.mntner > [mntner]",
    "org optional single lookup=dn42.organisation > [organisation]",
    "policy optional single > {open|closed|ask|reserved}",
    "status optional single > {ALLOCATED|ASSIGNED} {PI|PA|}",
    "country optional multiple > [code]",
    "nserver optional multiple > [name] [address]",
    *_CONTACTS,
)
_ROUTE = (
    _MAINTAINED,
    "origin required multiple > [aut-num]",
    "max-length optional single > [number]",
    "member-of optional multiple lookup=dn42.route-set > [route-set]",
    "pingable optional multiple > [address]",
    *_CONTACTS,
)
_PERSON = (
    "nic-hdl required single primary > [handle]",
    _MAINTAINED,
    "e-mail optional multiple > [address]",
    "abuse-mailbox optional multiple > [address]",
    "contact optional multiple > [text]...",
    "www optional multiple > [url]",
    "pgp-fingerprint optional multiple > [fingerprint]",
    *_CONTACTS,
)
#: Class → who has such objects to give, and the lines behind that of the class itself.
_CLASSES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "aut-num": (
        "as-block",
        (
            "as-name required single > [name]",
            _MAINTAINED,
            "member-of optional multiple lookup=dn42.as-set > [as-set]",
            "org optional single lookup=dn42.organisation > [organisation]",
            "mp-import optional multiple > [text]...",
            "mp-export optional multiple > [text]...",
            "import deprecate multiple > [text]...",
            "export deprecate multiple > [text]...",
            *_CONTACTS,
        ),
    ),
    "as-block": (
        "as-block",
        (
            "policy required single > {open|closed|ask}",
            _MAINTAINED,
            "mnt-lower optional multiple lookup=dn42.mntner > [mntner]",
            *_CONTACTS,
        ),
    ),
    "as-set": (
        "",
        (
            _MAINTAINED,
            "members optional multiple lookup=dn42.aut-num,dn42.as-set > [member]...",
            "mbrs-by-ref optional multiple lookup=dn42.mntner > [mntner]",
            *_CONTACTS,
        ),
    ),
    "route-set": (
        "",
        (
            _MAINTAINED,
            "mp-members optional multiple > [member]...",
            "members deprecate multiple > [member]...",
            "mbrs-by-ref optional multiple lookup=dn42.mntner > [mntner]",
            *_CONTACTS,
        ),
    ),
    "mntner": (
        "",
        (
            _MAINTAINED,
            "auth optional multiple lookup=dn42.key-cert > [method] [value]...",
            "abuse-mailbox optional multiple > [address]",
            "org optional multiple lookup=dn42.organisation > [organisation]",
            *_CONTACTS,
        ),
    ),
    "person": ("", _PERSON),
    "role": ("", (*_PERSON, "abuse-c optional multiple lookup=dn42.person > [contact]")),
    "organisation": (
        "",
        ("org-name required single > [text]...", _MAINTAINED, "abuse-mailbox optional multiple", *_CONTACTS),
    ),
    "inetnum": ("inetnum", _NETWORK),
    "inet6num": ("inet6num", _NETWORK),
    "route": ("inetnum", _ROUTE),
    "route6": ("inet6num", _ROUTE),
    "domain": (
        "",
        (
            "nserver required multiple > [name] [address]...",
            _MAINTAINED,
            "ds-rdata optional multiple > [record]...",
            *_CONTACTS,
        ),
    ),
    "registry": ("", (_MAINTAINED, "url optional multiple > [url]")),
    "schema": (
        "",
        (
            "ref required single > [reference]",
            "key required multiple > [line]...",
            "dir-name optional single > [name]",
            "network-owner optional multiple > [class]",
            _MAINTAINED,
        ),
    ),
}


def schemas() -> Iterator[SampleFile]:
    """One for each class of which a sample has objects."""
    for name, (owner, lines) in _CLASSES.items():
        key = f"{name.upper()}-SCHEMA"
        primary = "" if any("primary" in line.split(">")[0].split() for line in lines) else " primary"
        described = (f"{name} required single{primary} schema > [{name}]", *lines, *_LAST)
        more: list[Line] = [("dir-name", "dns")] if name == "domain" else []
        if owner:
            more.append(("network-owner", f"dn42.{owner}"))
        head: list[Line] = [("schema", key), ("ref", f"dn42.{name}")]
        yield file_of("schema", key, [*head, *more, *(("key", line) for line in described), *_END])
