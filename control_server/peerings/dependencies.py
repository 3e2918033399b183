"""Wiring of peerings and links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Form, Query, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.dependencies import Agents
from control_server.ipam.dependencies import IpamOf
from control_server.ipam.service import Ipam
from control_server.neighbours.dependencies import LearnedOf, NeighboursOf
from control_server.neighbours.schemas import NeighbourRead
from control_server.neighbours.service import LearnedBook
from control_server.nodes.dependencies import Nodes
from control_server.nodes.rules import as_number
from control_server.nodes.service import NodeService
from control_server.observations.dependencies import ObservationsOf
from control_server.observations.service import Observations
from control_server.peerings.repository import PeeringRepository
from control_server.peerings.rules.forms import filter_source
from control_server.peerings.schemas import PeeringCreate, PeeringEditForm, PeeringForm, PeeringUpdate, RowId
from control_server.peerings.service import Links, PeeringRegister, Peerings
from control_server.policy.dependencies import Reader, Writer, WritingOf
from shared.kernel.clock import Clock


async def _peerings(writing: WritingOf, nodes: Nodes, agents: Agents, ipam: IpamOf) -> Peerings:
    rows = PeeringRepository(writing.session)
    return Peerings(rows, nodes, agents, ipam, writing.audit, writing.publisher, writing.now)


async def _links(writing: WritingOf, nodes: Nodes, ipam: IpamOf) -> Links:
    rows = PeeringRepository(writing.session)
    return Links(rows, nodes, ipam, writing.audit, writing.publisher, writing.now)


async def _introduced(_writer: Writer, wanted: PeeringCreate, found: NeighboursOf) -> None:
    if wanted.registry_filter is not None:
        await found.introduce(wanted.registry_filter.source(wanted.asn))


async def _introduced_for(
    request: Request, _writer: Writer, ident: RowId, wanted: PeeringUpdate, found: NeighboursOf
) -> None:
    if wanted.registry_filter is not None:
        asn = wanted.asn or await _asn_of(request, ident)
        if asn is None:
            return  # there is no such peering, which is said where it is looked for
        await found.introduce(wanted.registry_filter.source(asn))


@dataclass(frozen=True, slots=True)
class FilledForm:
    """The wizard's form, and what the registry says of the network that it names."""

    typed: PeeringForm
    registry: NeighbourRead | None


async def _filled(_writer: Writer, typed: Annotated[PeeringForm, Form()], found: NeighboursOf) -> FilledForm:
    asn = as_number(typed.asn)
    source = filter_source(typed, asn)
    if source is not None:
        await found.introduce(source)
    return FilledForm(typed, await found.describe(asn) if asn is not None else None)


async def _named(
    _writer: Writer, found: NeighboursOf, asn: Annotated[str, Query(max_length=20)] = ""
) -> FilledForm:
    number = as_number(asn)
    return FilledForm(PeeringForm(asn=asn), await found.describe(number) if number is not None else None)


async def _neighbour_of(
    request: Request, _reader: Reader, ident: RowId, found: NeighboursOf
) -> NeighbourRead | None:
    asn = await _asn_of(request, ident)
    return await found.describe(asn) if asn is not None else None


async def _introduced_by_edit(
    request: Request,
    _writer: Writer,
    ident: RowId,
    typed: Annotated[PeeringEditForm, Form()],
    found: NeighboursOf,
) -> None:
    source = filter_source(typed, await _asn_of(request, ident))
    if source is not None:
        await found.introduce(source)


async def _asn_of(request: Request, ident: str) -> int | None:
    async with request.app.state.resources.database.reading() as session:
        row = await PeeringRepository(session).find(ident)
    return row.asn if row is not None else None


#: The registry is asked before the request's transaction begins, never while it holds the database. So these
#: stand before whatever opens it.
Introduced = Depends(_introduced)
IntroducedFor = Depends(_introduced_for)
Filled = Annotated[FilledForm, Depends(_filled)]
Named = Annotated[FilledForm, Depends(_named)]
NeighbourOf = Annotated[NeighbourRead | None, Depends(_neighbour_of)]
IntroducedByEdit = Depends(_introduced_by_edit)

PeeringsOf = Annotated[Peerings, Depends(_peerings)]
LinksOf = Annotated[Links, Depends(_links)]


async def _relations(peerings: PeeringsOf, links: LinksOf) -> tuple[Peerings, Links]:
    return peerings, links


RelationsOf = Annotated[tuple[Peerings, Links], Depends(_relations)]


@dataclass(frozen=True, slots=True)
class PeeringDesk:
    """What the pages of peerings ask."""

    peerings: Peerings
    links: Links
    nodes: NodeService
    observations: Observations
    learned: LearnedBook


async def _desk(writers: RelationsOf, nodes: Nodes, seen: ObservationsOf, book: LearnedOf) -> PeeringDesk:
    peerings, links = writers
    return PeeringDesk(peerings, links, nodes, seen, book)


Desk = Annotated[PeeringDesk, Depends(_desk)]


def peering_register(session: AsyncSession, ipam: Ipam, now: Clock) -> PeeringRegister:
    """All peerings and links, for those who derive something from them."""
    return PeeringRegister(PeeringRepository(session), ipam, now)
