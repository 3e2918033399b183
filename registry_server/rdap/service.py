"""Answers RDAP from the same snapshot as every other look-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from registry_server.history.service import HistoryService
from registry_server.lookup.errors import ObjectUnknown
from registry_server.lookup.schemas import Match
from registry_server.lookup.service import CatalogueService, FindingService, FoundObject
from registry_server.objects.rules.grammar import parse, quote, words
from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix
from registry_server.rdap.errors import RdapInvalid, RdapNoQuestion, RdapNotFound, RdapUnsupported
from registry_server.rdap.rules import documents
from registry_server.rdap.schemas import SEARCHES, Contact, Document, Life, Search, Told
from shared.kernel.clock import Clock
from shared.kernel.errors import InvalidInput

_ENTITIES = ("person", "role", "organisation", "mntner")
#: Attributes that name somebody, as what, and in which classes they are looked for.
_ROLES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("org", "registrant", ("organisation",)),
    ("mnt-by", "registrant", ("mntner",)),
    ("admin-c", "administrative", ("person", "role")),
    ("tech-c", "technical", ("person", "role")),
    ("zone-c", "technical", ("person", "role")),
    ("abuse-c", "abuse", ("person", "role")),
)
#: What RFC 9082 knows and this server does not answer.
_UNANSWERED = frozenset({"nameserver", "nameservers", *SEARCHES})
#: By which RFC 9082 has domains searched, and this server has not.
_NOT_SEARCHED_BY = frozenset({"nsLdhName", "nsIp"})
#: More are not told: an answer stays an answer.
_MOST_CONTACTS = 30
#: What an entity has, by class, and how much of it is told.
_HELD = ("aut-num", "inetnum", "inet6num")
_MOST_HELD = 100
_MOST_RESULTS = 100


@dataclass(frozen=True, slots=True)
class RdapService:
    """The registry in the words of RDAP; links start with `base`."""

    catalogue: CatalogueService
    findings: FindingService
    history: HistoryService
    base: str
    name: str
    now: Clock
    #: The whois server that anybody reaches on port 43; None where there is none.
    port43: str | None = None

    async def autnum(self, text: str) -> Document:
        """An AS number. Raises RdapInvalid or RdapNotFound."""
        number = parse_asn(text.strip(), bare=True)
        if number is None:
            raise RdapInvalid(f"{quote(text)} is not AS and a number from 0 to 4294967295.")
        told, life = await self._get(("aut-num",), f"AS{number}")
        return self._whole(documents.autnum(number, told, await self._contacts(told), self.base), told, life)

    async def network(self, text: str) -> Document:
        """The smallest block that contains the address or block. Raises RdapInvalid or RdapNotFound."""
        try:
            found = await self.findings.prefix(text, Match.COVERING, None, 1)
        except InvalidInput as refused:
            raise RdapInvalid(refused.detail) from None
        networks = [item for item in found.items if item.object_class.startswith("inet")]
        if not networks:
            raise RdapNotFound(f"No network of the registry contains {quote(text)}.")
        nearest = networks[0]
        parent = next((item.prefix for item in networks if item.prefix != nearest.prefix), None)
        told, life = await self._get((nearest.object_class,), nearest.key)
        try:
            block = parse_prefix(nearest.prefix)
        except PrefixRefused:
            raise RdapNotFound from None
        contacts = await self._contacts(told)
        return self._whole(documents.network(block, told, parent, contacts, self.base), told, life)

    async def domain(self, name: str) -> Document:
        """A name. Raises RdapNotFound."""
        told, life = await self._get(("domain",), name.rstrip("."))
        return self._whole(documents.domain(told, await self._contacts(told), self.base), told, life)

    async def entity(self, handle: str) -> Document:
        """A contact or a maintainer, in any case of the handle. Raises RdapNoQuestion or RdapNotFound."""
        if not handle.strip():
            raise RdapNoQuestion
        told, life = await self._get(_ENTITIES, handle)
        held = await self._held(told)
        document = documents.entity(told, await self._contacts(told), held[:_MOST_HELD], self.base)
        notices = [documents.truncated_notice(_MOST_HELD)] if len(held) > _MOST_HELD else []
        return self._whole(document, told, life, notices)

    async def search(self, kind: Search, asked: Mapping[str, str]) -> Document:
        """What fits a name with asterisks.

        Raises RdapNoQuestion, RdapUnsupported, RdapInvalid or RdapNotFound.
        """
        of = SEARCHES[kind]
        known = {name: text for name, text in asked.items() if name in of.properties}
        if len(known) != 1:
            refused = RdapUnsupported if asked.keys() & _NOT_SEARCHED_BY else RdapNoQuestion
            raise refused(f"{kind.value} are searched by {' or '.join(of.properties)}, one at a time.")
        ((name, text),) = known.items()
        try:
            found = await self.findings.named(
                text, of.classes, _MOST_RESULTS + 1, by_name=of.properties[name]
            )
        except InvalidInput as refused:
            raise RdapInvalid(f"{name}: {refused.detail}") from None
        results = [document for each in found if (document := self._document_of(each)) is not None]
        if not results:
            raise RdapNotFound(f"No object of the registry has a {name} like {quote(text)}.")
        return documents.results(of, results, _MOST_RESULTS)

    def help(self) -> Document:
        """What this server is."""
        return documents.help_document(self.name, self.base)

    def refuse(self, question: str) -> NoReturn:
        """Tell what is not answered here from what is no query. Raises RdapUnsupported or RdapNoQuestion."""
        kind = question.strip("/").split("/", 1)[0].lower()
        raise RdapUnsupported if kind in _UNANSWERED else RdapNoQuestion

    async def bootstrap(self, kind: str) -> Document:
        """Where to ask about a kind of things: here. Raises RdapNotFound."""
        ranges = {
            "asn": ["0-4294967295"],
            "ipv4": ["0.0.0.0/0"],
            "ipv6": ["::/0"],
            "dns": await self.catalogue.top_labels() if kind == "dns" else [],
            "object-tags": [],
        }
        if kind not in ranges:
            raise RdapNotFound(f"There are lists of {', '.join(ranges)}.")
        published = self.now().replace(microsecond=0, minute=0, second=0).isoformat()
        return documents.bootstrap(ranges[kind], published, self.base)

    def _whole(
        self, document: Document, told: Told, life: Life | None, notices: Sequence[Document] = ()
    ) -> Document:
        notice = documents.source_notice(self.name, told, document["links"][0]["value"], self.base)
        return documents.whole(document, life, [notice, *notices], self.port43)

    async def _get(self, classes: Sequence[str], key: str) -> tuple[Told, Life | None]:
        for object_class in classes:
            try:
                found = await self.catalogue.find(object_class, key)
            except ObjectUnknown:
                continue
            if found.indexed:
                span = await self.history.span(found.path)
                return _told(found.object_class, found.key, found.raw), Life(*span) if span else None
        raise RdapNotFound(f"The registry has no {' or '.join(classes)} {quote(key)}.")

    async def _held(self, told: Told) -> list[Document]:
        """Networks and AS numbers that name the entity, and one more than are told where there are more."""
        named = await self.catalogue.naming(told.object_class, told.key, _HELD, _MOST_HELD + 1)
        return [document for found in named if (document := self._document_of(found)) is not None]

    def _document_of(self, found: FoundObject) -> Document | None:
        told = _told(found.object_class, found.key, found.raw)
        if found.object_class == "aut-num":
            number = parse_asn(found.key)
            return None if number is None else documents.autnum(number, told, (), self.base)
        if found.object_class == "domain":
            return documents.domain(told, (), self.base)
        if found.object_class in _ENTITIES:
            return documents.entity(told, (), (), self.base)
        try:
            return documents.network(parse_prefix(found.key), told, None, (), self.base)
        except PrefixRefused:
            return None

    async def _contacts(self, told: Told) -> list[Contact]:
        """Those whom the object names and the registry has; one that is odd is left out, not fatal."""
        found: list[Contact] = []
        for attribute, role, classes in _ROLES:
            names = [word for value in told.values(attribute) for word in words(value)]
            for name in dict.fromkeys(names):
                if len(found) < _MOST_CONTACTS and (contact := await self._find(classes, name)):
                    found.append(Contact(role, contact))
        return found

    async def _find(self, classes: Sequence[str], key: str) -> Told | None:
        for object_class in classes:
            try:
                found = await self.catalogue.find(object_class, key)
            except ObjectUnknown:
                continue
            if found.indexed:
                return _told(found.object_class, found.key, found.raw)
        return None


def _told(object_class: str, key: str, raw: bytes) -> Told:
    attributes, _ = parse(raw)
    return Told(object_class, key, [(each.name, each.value) for each in attributes])
