"""What look-ups answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from shared.protocol.registry import Maintainer


class RegistryRecord(BaseModel):
    """What the answers about objects have in common. Keys are as written; they are found in any case."""

    path: str = Field(description="Where the object stands in the registry's repository")
    descr: list[str]
    mnt_by: list[str]
    admin_c: list[str]
    tech_c: list[str]
    org: str | None
    source: str | None
    raw: str = Field(description="The object's text")


class AsnRecord(RegistryRecord):
    """An AS number and who holds it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "path": "data/aut-num/AS4242429901",
                    "descr": [],
                    "mnt_by": ["FOO-MNT"],
                    "admin_c": ["FOO-DN42"],
                    "tech_c": ["FOO-DN42"],
                    "org": None,
                    "source": "DN42",
                    "raw": "aut-num:            AS4242429901\nas-name:            FOO-AS\n…",
                    "asn": 4242429901,
                    "as_name": "FOO-AS",
                    "member_of": [],
                }
            ]
        }
    )

    asn: int
    as_name: str | None
    member_of: list[str]


class AuthRecord(BaseModel):
    """One way in which a maintainer may prove who they are."""

    method: str = Field(
        description='"unknown" where it cannot be verified; such a line never counts as proof'
    )
    value: str
    raw: str


class MntnerRecord(RegistryRecord):
    """A maintainer, how they prove who they are, and which AS numbers name them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "path": "data/mntner/FOO-MNT",
                    "descr": ["Foo network"],
                    "mnt_by": ["FOO-MNT"],
                    "admin_c": ["FOO-DN42"],
                    "tech_c": ["FOO-DN42"],
                    "org": None,
                    "source": "DN42",
                    "raw": "mntner:             FOO-MNT\n…",
                    "mntner": "FOO-MNT",
                    "auth": [
                        {
                            "method": "pgp-fingerprint",
                            "value": "0123456789ABCDEF0123456789ABCDEF01234567",
                            "raw": "pgp-fingerprint 0123456789ABCDEF0123456789ABCDEF01234567",
                        }
                    ],
                    "asns": [4242429901],
                }
            ]
        }
    )

    mntner: str
    auth: list[AuthRecord]
    asns: list[int] = Field(description="AS numbers whose objects this maintainer maintains")


class RouteRecord(BaseModel):
    """One prefix."""

    prefix: str
    max_length: int | None = Field(description="As the object says; null where it says nothing")
    mnt_by: list[str]


class RoutesRecord(BaseModel):
    """The prefixes that an AS may originate, IPv4 first, in the order of their addresses."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "origin": 4242429901,
                    "routes": [{"prefix": "172.20.0.0/24", "max_length": None, "mnt_by": ["FOO-MNT"]}],
                    "truncated": False,
                }
            ]
        }
    )

    origin: int
    routes: list[RouteRecord]
    truncated: bool = Field(default=False, description="There are more than can be told: 10,000 objects")


class IdentityMaterial(BaseModel):
    """All that an identity is made of, before the maintainers that prove nothing are left out."""

    as_name: str | None
    mntners: tuple[Maintainer, ...]
    #: AS numbers of the maintainer that was asked for.
    asns: tuple[int, ...]
