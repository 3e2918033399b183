"""What the registry service tells other services of who may speak for an AS number."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class AuthLine(BaseModel):
    """One way in which a maintainer may prove who they are."""

    model_config = ConfigDict(frozen=True)

    method: str = Field(
        description='The key\'s type, "pgp-fingerprint" or "pgpkey"; "unknown" never counts as proof'
    )
    value: str = Field(description="Key, fingerprint or name of the key certificate; empty where unknown")
    raw: str = Field(description="The line as the registry has it")
    fingerprint: str | None = Field(
        default=None, description="Of a PGP key: as the line or the key certificate says"
    )
    certificate: str | None = Field(default=None, description="The armoured key of a key certificate")


class Maintainer(BaseModel):
    """Who may prove to hold an AS number, and how. A key that was commented out is no key."""

    model_config = ConfigDict(frozen=True)

    mntner: str
    auth: tuple[AuthLine, ...]


class NetworkClaim(BaseModel):
    """The claim `dn42`: an AS number, and who speaks for it now."""

    model_config = ConfigDict(frozen=True)

    asn: int
    active_mnt: str
    asns: tuple[int, ...] = Field(description="All AS numbers of the active maintainer, in order")
    mnts: tuple[str, ...] = Field(description="All maintainers of the AS number that can prove ownership")
    active_name: str | None = Field(description="Name of the AS")


class IdentityClaims(BaseModel):
    """Claims of somebody who has proved to be the maintainer."""

    model_config = ConfigDict(frozen=True)

    asn: int
    mntner: str
    dn42: NetworkClaim


class AsnIdentities(BaseModel):
    """Who may speak for an AS number: maintainers that many share are left out, they prove nothing."""

    model_config = ConfigDict(
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "asn": 4242429901,
                    "as_name": "FOO-AS",
                    "mntners": [
                        {
                            "mntner": "FOO-MNT",
                            "auth": [
                                {
                                    "method": "pgp-fingerprint",
                                    "value": "0123456789ABCDEF0123456789ABCDEF01234567",
                                    "raw": "pgp-fingerprint 0123456789abcdef0123456789abcdef01234567",
                                    "fingerprint": "0123456789ABCDEF0123456789ABCDEF01234567",
                                    "certificate": None,
                                }
                            ],
                        }
                    ],
                }
            ]
        },
    )

    asn: int
    as_name: str | None
    mntners: tuple[Maintainer, ...]


class Identity(AsnIdentities):
    """An AS number as one of its maintainers may claim it, once proved."""

    model_config = ConfigDict(
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "asn": 4242429901,
                    "as_name": "FOO-AS",
                    "mntners": [{"mntner": "FOO-MNT", "auth": []}],
                    "mntner": "FOO-MNT",
                    "auth": [],
                    "claims": {
                        "asn": 4242429901,
                        "mntner": "FOO-MNT",
                        "dn42": {
                            "asn": 4242429901,
                            "active_mnt": "FOO-MNT",
                            "asns": [4242429901],
                            "mnts": ["FOO-MNT"],
                            "active_name": "FOO-AS",
                        },
                    },
                }
            ]
        },
    )

    mntner: str = Field(description="As the registry writes it")
    auth: tuple[AuthLine, ...] = Field(description="The maintainer's own lines, as in `mntners`")
    claims: IdentityClaims
