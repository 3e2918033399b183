"""Who may speak for an AS number, and what they may then claim."""

from __future__ import annotations

from dataclasses import dataclass

from registry_server.keys import IDENTITY_RECORD
from registry_server.lookup.errors import AsnUnknown, MntnerNotOfAsn
from registry_server.lookup.repository.objects import LookupRepository
from registry_server.lookup.rules import identity as rules
from registry_server.lookup.rules.stored import StoredObject, read_asn
from registry_server.lookup.schemas import IdentityMaterial
from registry_server.lookup.service.answers import VersionedAnswers
from registry_server.objects.rules.classes import fold
from shared.protocol.registry import AsnIdentities, Identity, Maintainer

#: Stands for "no maintainer" in a key: no name is empty.
_NOBODY = "-"


@dataclass(frozen=True, slots=True)
class IdentityService:
    """Maintainers of AS numbers. Those that many share never prove ownership."""

    answers: VersionedAnswers
    #: Folded names.
    shared_maintainers: frozenset[str]

    async def of_asn(self, asn: str) -> AsnIdentities:
        """Everybody who may speak for the AS number. Raises AsnUnknown or InvalidInput."""
        number = read_asn(asn, "asn")
        return rules.asn_identities(number, await self._material(number, None), self.shared_maintainers)

    async def get(self, asn: str, name: str) -> Identity:
        """What a proved maintainer may claim. Raises AsnUnknown, MntnerNotOfAsn or InvalidInput."""
        number = read_asn(asn, "asn")
        folded = fold(name)
        if not folded or not folded.isprintable() or folded in self.shared_maintainers:
            await self._material(number, None)
            raise MntnerNotOfAsn
        known = await self._material(number, folded)
        found = rules.identity(number, folded, known, self.shared_maintainers)
        if found is None:
            raise MntnerNotOfAsn
        return found

    async def _material(self, number: int, folded: str | None) -> IdentityMaterial:
        async def load(repository: LookupRepository) -> IdentityMaterial | None:
            found = await repository.find_aut_num(number)
            return await _load(repository, found, folded) if found else None

        known = await self.answers.find(
            IdentityMaterial,
            lambda version: IDENTITY_RECORD.key(version=version, asn=number, mntner=folded or _NOBODY),
            load,
        )
        if known is None:
            raise AsnUnknown.of(number)
        return known


async def _load(repository: LookupRepository, found: StoredObject, folded: str | None) -> IdentityMaterial:
    mntners = [await _maintainer(repository, name) for name in found.words("mnt-by")]
    return IdentityMaterial(
        as_name=found.first("as-name") or None,
        mntners=tuple(each for each in mntners if each is not None),
        asns=tuple(await repository.list_maintained_asns(folded)) if folded else (),
    )


async def _maintainer(repository: LookupRepository, name: str) -> Maintainer | None:
    """One that the registry has no good object of can prove nothing."""
    found = await repository.find_mntner(name)
    if found is None:
        return None
    certificates = {
        fold(named): certificate
        for named in rules.certificates_of(found)
        if (certificate := await repository.find_certificate(named)) is not None
    }
    return rules.maintainer(found, certificates)
