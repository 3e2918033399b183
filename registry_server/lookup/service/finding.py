"""Prefixes, searches and sets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from registry_server.lookup.errors import AsSetUnknown
from registry_server.lookup.repository.catalogue import CatalogueRepository, FoundObject
from registry_server.lookup.repository.prefixes import FoundBlock, PrefixRepository
from registry_server.lookup.repository.search import SearchRepository
from registry_server.lookup.repository.sets import SetRepository
from registry_server.lookup.rules.patterns import Pattern, name_of
from registry_server.lookup.rules.prefixes import prefix_item, read_prefix
from registry_server.lookup.rules.searching import read_question
from registry_server.lookup.rules.sets import expansion
from registry_server.lookup.schemas.finding import Match, PrefixAnswer, PrefixItem, SearchPage
from registry_server.lookup.schemas.sets import AsSetExpansion
from registry_server.lookup.service.catalogue import class_named
from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.cursors import read_cursor, write_cursor
from registry_server.objects.schemas import Prefix
from shared.kernel.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class FindingService:
    """What one snapshot has for a question."""

    prefixes: PrefixRepository
    catalogue: CatalogueRepository
    texts: SearchRepository
    sets: SetRepository

    async def prefix(self, text: str, match: Match, cursor: str | None, limit: int) -> PrefixAnswer:
        """Blocks around a prefix or an address. Raises InvalidInput."""
        wanted = read_prefix(text)
        if match is Match.MORE_SPECIFIC:
            return await self._inside(wanted, cursor, limit)
        found = await self.prefixes.list_covering(wanted)
        if match is Match.EXACT:
            found = [block for block in found if block.length == wanted.length]
        elif match is Match.LONGEST:
            found = _nearest(found)
        return PrefixAnswer(prefix=wanted.text, match=match, items=await self._items(found))

    async def search(self, text: str, classes: Sequence[str], cursor: str | None, limit: int) -> SearchPage:
        """Objects whose key or text has every word. Raises InvalidInput or ObjectClassUnknown."""
        question = read_question(text, [class_named(name) for name in classes])
        ended = read_cursor(cursor, int, str, int)
        after = (int(ended[0]), str(ended[1]), int(ended[2])) if ended else None
        found = await self.texts.list_hits(question, after, limit + 1)
        more = write_cursor(*found[limit - 1][0]) if len(found) > limit else None
        return SearchPage(items=[hit for _, hit in found[:limit]], next=more)

    async def named(
        self, text: str, classes: Collection[str], limit: int, *, by_name: bool
    ) -> list[FoundObject]:
        """Good objects whose key, or the name that they give themselves, fits a pattern, by class and key.

        Raises InvalidInput for a pattern without a character of its own.
        """
        pattern = Pattern.of(text if by_name else fold(text))
        if not pattern.literal.strip() or not text.isprintable():
            raise InvalidInput("Give at least one printable character beside the asterisks.")
        fitting = [
            each.id
            for each in await self.texts.list_named(pattern.literal, classes)
            if pattern.fits(name_of(each.object_class, each.key, each.title) if by_name else each.folded)
        ][:limit]
        found = await self.catalogue.find_all(fitting)
        return [found[ident] for ident in fitting]

    async def as_set(self, name: str) -> AsSetExpansion:
        """All that an as-set comes to. Raises AsSetUnknown."""
        folded = fold(name)
        key = await self.sets.find_name(folded) if folded.isprintable() else None
        if key is None:
            raise AsSetUnknown
        reached = await self.sets.list_reached(folded)
        sets = await self.sets.find_sets([folded, *(each for each in reached if each != folded)])
        return expansion(key, reached, sets, await self.sets.list_claimants(list(sets)))

    async def _inside(self, wanted: Prefix, cursor: str | None, limit: int) -> PrefixAnswer:
        ended = read_cursor(cursor, str, int, int)
        after = (_packed(str(ended[0])), int(ended[1]), int(ended[2])) if ended else None
        found = await self.prefixes.list_inside(wanted, after, limit + 1)
        last = found[limit - 1] if len(found) > limit else None
        return PrefixAnswer(
            prefix=wanted.text,
            match=Match.MORE_SPECIFIC,
            items=await self._items(found[:limit]),
            next=write_cursor(last.first.hex(), last.length, last.object_id) if last else None,
        )

    async def _items(self, found: Sequence[FoundBlock]) -> list[PrefixItem]:
        idents = [block.object_id for block in found]
        objects = await self.catalogue.find_all(idents)
        origins = await self.prefixes.list_origins(idents)
        return [
            prefix_item(objects[block.object_id], block.prefix, origins.get(block.object_id, []))
            for block in found
        ]


def _nearest(found: Sequence[FoundBlock]) -> list[FoundBlock]:
    """Of networks and of routes each the longest: `found` has the longest first."""
    nearest: list[FoundBlock] = []
    for routes in (False, True):
        some = [block for block in found if bool(block.is_route) is routes]
        nearest += [block for block in some if block.length == some[0].length]
    return nearest


def _packed(text: str) -> bytes:
    """A cursor may say anything: what is no address starts at the beginning."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
