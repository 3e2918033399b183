"""Who may speak for an AS number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from registry_server.lookup.rules.stored import StoredObject
from registry_server.lookup.schemas import IdentityMaterial
from registry_server.objects.rules.auth import is_commented_out, parse_auth
from registry_server.objects.rules.classes import fold
from shared.protocol.registry import (
    AsnIdentities,
    AuthLine,
    Identity,
    IdentityClaims,
    Maintainer,
    NetworkClaim,
)


def certificates_of(found: StoredObject) -> list[str]:
    """Key certificates that a maintainer names."""
    methods = [parse_auth(value) for value in found.values("auth") if not is_commented_out(value)]
    return [found.value for found in methods if found.method == "pgpkey"]


def maintainer(found: StoredObject, certificates: Mapping[str, StoredObject]) -> Maintainer:
    """A maintainer with every line that might prove something; `certificates` by folded name."""
    values = [value for value in found.values("auth") if value and not is_commented_out(value)]
    return Maintainer(mntner=found.key, auth=tuple(_line(value, certificates) for value in values))


def _line(text: str, certificates: Mapping[str, StoredObject]) -> AuthLine:
    method, value, raw = parse_auth(text)
    if method == "pgp-fingerprint":
        return AuthLine(method=method, value=value, raw=raw, fingerprint=value)
    certificate = certificates.get(fold(value)) if method == "pgpkey" else None
    if certificate is None:
        return AuthLine(method=method, value=value, raw=raw)
    fingerprint = "".join((certificate.first("fingerpr") or "").split()).upper() or None
    armour = "\n".join(certificate.values("certif")) or None
    return AuthLine(method=method, value=value, raw=raw, fingerprint=fingerprint, certificate=armour)


def without_shared(found: Iterable[Maintainer], shared: Collection[str]) -> tuple[Maintainer, ...]:
    """The maintainers that prove ownership; `shared` are folded names of those that never do."""
    return tuple(each for each in found if fold(each.mntner) not in shared)


def asn_identities(number: int, known: IdentityMaterial, shared: Collection[str]) -> AsnIdentities:
    """Everybody who may speak for the AS number."""
    return AsnIdentities(asn=number, as_name=known.as_name, mntners=without_shared(known.mntners, shared))


def identity(number: int, name: str, known: IdentityMaterial, shared: Collection[str]) -> Identity | None:
    """The AS number as this maintainer may claim it, or None where they may not."""
    mntners = without_shared(known.mntners, shared)
    own = next((each for each in mntners if fold(each.mntner) == fold(name)), None)
    if own is None:
        return None
    claim = NetworkClaim(
        asn=number,
        active_mnt=own.mntner,
        asns=known.asns,
        mnts=tuple(each.mntner for each in mntners),
        active_name=known.as_name,
    )
    return Identity(
        asn=number,
        as_name=known.as_name,
        mntners=mntners,
        mntner=own.mntner,
        auth=own.auth,
        claims=IdentityClaims(asn=number, mntner=own.mntner, dn42=claim),
    )
