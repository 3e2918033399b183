"""Wiring of look-ups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Query, Request

from registry_server.lookup.repository.catalogue import CatalogueRepository
from registry_server.lookup.repository.links import LinkRepository
from registry_server.lookup.repository.prefixes import PrefixRepository
from registry_server.lookup.repository.search import SearchRepository
from registry_server.lookup.repository.sets import SetRepository
from registry_server.lookup.service import (
    CatalogueService,
    ConnectionService,
    FindingService,
    IdentityService,
    LookupService,
    VersionedAnswers,
)
from registry_server.lookup.store import RecordStore
from registry_server.objects.rules.classes import fold
from shared.web.transactions import Session


def _answers(request: Request) -> VersionedAnswers:
    resources = request.app.state.resources
    return VersionedAnswers(resources.database, RecordStore(resources.cache))


Answers = Annotated[VersionedAnswers, Depends(_answers)]


def _lookups(answers: Answers) -> LookupService:
    return LookupService(answers)


def _identities(request: Request, answers: Answers) -> IdentityService:
    shared = request.app.state.resources.settings.shared_maintainers
    return IdentityService(answers, frozenset(map(fold, shared)))


Lookups = Annotated[LookupService, Depends(_lookups)]
Identities = Annotated[IdentityService, Depends(_identities)]


ObjectClass = Annotated[str, Path(max_length=40, examples=["aut-num", "route6"])]
Key = Annotated[str, Path(max_length=512, examples=["AS4242429901", "172.20.0.0/24"])]


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of a list is meant."""

    cursor: Annotated[str | None, Query(max_length=2048, description="`next` of the page before")] = None
    limit: Annotated[int, Query(ge=1, le=200)] = 100


@dataclass(frozen=True, slots=True)
class Backlinks(Paging):
    """Which page of the objects that name one, and by which attribute."""

    attribute: Annotated[str | None, Query(max_length=60, examples=["mnt-by"])] = None


@dataclass(frozen=True, slots=True)
class Named:
    """The object that a path names."""

    object_class: ObjectClass
    key: Key


def _catalogue(session: Session) -> CatalogueService:
    return CatalogueService(CatalogueRepository(session))


def _findings(session: Session) -> FindingService:
    return FindingService(
        PrefixRepository(session),
        CatalogueRepository(session),
        SearchRepository(session),
        SetRepository(session),
    )


def _connections(session: Session) -> ConnectionService:
    return ConnectionService(_catalogue(session), LinkRepository(session))


@dataclass(frozen=True, slots=True)
class Ends:
    """The two objects that are asked about."""

    from_class: Annotated[str, Query(max_length=40, examples=["route"])]
    from_key: Annotated[str, Query(max_length=512, examples=["172.20.0.0/24"])]
    to_class: Annotated[str, Query(max_length=40, examples=["as-set"])]
    to_key: Annotated[str, Query(max_length=512, examples=["AS-FOO"])]


Connections = Annotated[ConnectionService, Depends(_connections)]
BothEnds = Annotated[Ends, Depends()]
Catalogue = Annotated[CatalogueService, Depends(_catalogue)]
Findings = Annotated[FindingService, Depends(_findings)]
Page = Annotated[Paging, Depends()]
LinkPage = Annotated[Backlinks, Depends()]
Name = Annotated[Named, Depends()]
