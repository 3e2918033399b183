"""The classes of objects, their directories and keys, and which attributes point at what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

#: Classes that an attribute may name.
_CONTACTS = ("person", "role")
_CONTACT_REFERENCES = {
    "admin-c": _CONTACTS,
    "tech-c": _CONTACTS,
    "zone-c": _CONTACTS,
    "org": ("organisation",),
}
_OWNER_REFERENCES = {"mnt-by": ("mntner",), **_CONTACT_REFERENCES}


@dataclass(frozen=True, slots=True)
class ObjectClass:
    """What the registry's schema says of one class, as far as the index depends on it."""

    name: str
    #: The attribute that is the primary key.
    key: str
    required: tuple[str, ...]
    #: Attributes that may stand only once.
    single: frozenset[str] = frozenset()
    #: Attributes whose words are keys of objects of these classes.
    references: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType(_OWNER_REFERENCES)
    )


def _class(
    name: str,
    *required: str,
    key: str | None = None,
    single: tuple[str, ...] = (),
    references: Mapping[str, tuple[str, ...]] | None = None,
) -> ObjectClass:
    key = key or name
    return ObjectClass(
        name=name,
        key=key,
        required=(name, *(() if key == name else (key,)), *required),
        single=frozenset({name, key, "source", *single}),
        references=MappingProxyType({**_OWNER_REFERENCES, **(references or {})}),
    )


_NETWORK = {"mnt-lower": ("mntner",), "mnt-routes": ("mntner",)}
_MEMBERS = ("aut-num", "as-set")
_CLASSES = (
    _class(
        "aut-num", "as-name", "mnt-by", "source", single=("as-name",), references={"member-of": ("as-set",)}
    ),
    _class("mntner", "mnt-by", "source", references={"abuse-c": _CONTACTS}),
    _class("person", "mnt-by", "source", key="nic-hdl"),
    _class("role", "mnt-by", "source", key="nic-hdl", references={"abuse-c": ("person",)}),
    _class(
        "organisation",
        "org-name",
        "mnt-by",
        "source",
        single=("org-name",),
        references={"abuse-c": _CONTACTS, "mnt-ref": ("mntner",)},
    ),
    _class("inetnum", "netname", "source", key="cidr", single=("netname", "policy"), references=_NETWORK),
    _class("inet6num", "netname", "source", key="cidr", single=("netname", "policy"), references=_NETWORK),
    _class(
        "route",
        "mnt-by",
        "origin",
        "source",
        single=("max-length",),
        references={"member-of": ("route-set",)},
    ),
    _class(
        "route6",
        "mnt-by",
        "origin",
        "source",
        single=("max-length",),
        references={"member-of": ("route-set",)},
    ),
    _class("as-set", "mnt-by", "source", references={"members": _MEMBERS, "mbrs-by-ref": ("mntner",)}),
    _class("route-set", "mnt-by", "source", references={"mbrs-by-ref": ("mntner",)}),
    _class("domain", "nserver", "mnt-by", "source"),
    _class(
        "as-block", "policy", "mnt-by", "source", single=("policy",), references={"mnt-lower": ("mntner",)}
    ),
    _class("registry", "mnt-by", "source"),
    _class("key-cert", "mnt-by", "source"),
    _class("tinc-key", "mnt-by", "source"),
    _class("tinc-keyset", "mnt-by", "source"),
    _class("telephony", "mnt-by", "source"),
    _class("schema", "mnt-by", "source"),
)
CLASSES: Mapping[str, ObjectClass] = MappingProxyType({found.name: found for found in _CLASSES})
#: Every class has a directory of its own name, but one.
CLASS_OF_DIRECTORY: Mapping[str, str] = MappingProxyType(
    {("dns" if name == "domain" else name): name for name in CLASSES}
)
#: A `source:` that is none of these is a slip of the pen.
SOURCES = frozenset("DN42 ICVPN CHAOSVPN NEONETWORK CRXN RIPE APNIC ARIN LACNIC AFRINIC".split())  # noqa: SIM905
PREFIX_CLASSES = frozenset({"inetnum", "inet6num", "route", "route6"})
#: A key longer than this fits no index and no file name.
LONGEST_KEY = 255


def directory_of(object_class: str) -> str:
    """Where objects of the class stand under `data/`."""
    return "dns" if object_class == "domain" else object_class


def family_of(object_class: str) -> int:
    """The address family of a class whose keys are prefixes."""
    return 6 if object_class in {"route6", "inet6num"} else 4


def file_name_of(key: str) -> str:
    """The file name that a primary key asks for."""
    return key.replace("/", "_").replace(" ", "")


def key_of(object_class: str, file_name: str) -> str:
    """The key that a file name stands for; what an object without a readable key is called."""
    if object_class in PREFIX_CLASSES:
        return "/".join(file_name.rsplit("_", 1))
    return file_name


@lru_cache(maxsize=4096)
def fold(key: str) -> str:
    """The form in which keys are compared: neither case nor blanks matter."""
    return "".join(key.split()).lower()
