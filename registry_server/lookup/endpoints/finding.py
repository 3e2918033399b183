"""Prefixes, searches and sets."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from registry_server.conditional.dependencies import IfChanged
from registry_server.lookup.dependencies import BothEnds, Connections, Findings, Page
from registry_server.lookup.schemas import AsSetExpansion, Connection, Match, PrefixAnswer, SearchPage
from shared.web.problems import Problem

_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The client has it already"}}
_INVALID: dict[int | str, dict[str, Any]] = {422: {"model": Problem, "description": "Not a prefix"}}
_MISSING: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "Not in the registry"}}

router = APIRouter(prefix="/registry/api/v1", tags=["lookup"])


@router.get("/prefix/{prefix:path}", response_model=PrefixAnswer, responses={**_NOT_MODIFIED, **_INVALID})
async def find_prefix(
    prefix: Annotated[str, Path(max_length=60, examples=["172.20.0.0/24", "fd42::1"])],
    findings: Findings,
    page: Page,
    if_changed: IfChanged,
    match: Match = Match.LONGEST,
) -> Response:
    """Networks and routes around a prefix or an address."""
    return if_changed.answer(await findings.prefix(prefix, match, page.cursor, page.limit))


@router.get("/search", response_model=SearchPage, responses=_NOT_MODIFIED)
async def search(
    q: Annotated[str, Query(max_length=100, examples=["foo"])],
    findings: Findings,
    page: Page,
    if_changed: IfChanged,
    object_class: Annotated[list[str] | None, Query(alias="class", max_length=20)] = None,
) -> Response:
    """Objects whose key or text has every word, best first."""
    return if_changed.answer(await findings.search(q, object_class or [], page.cursor, page.limit))


@router.get("/as-set/{name}", response_model=AsSetExpansion, responses={**_NOT_MODIFIED, **_MISSING})
async def expand_as_set(
    name: Annotated[str, Path(max_length=255, examples=["AS-FOO"])],
    findings: Findings,
    if_changed: IfChanged,
) -> Response:
    """Every AS number in an as-set and in the sets that it contains, cycles or not."""
    return if_changed.answer(await findings.as_set(name))


@router.get("/connection", response_model=Connection, responses={**_NOT_MODIFIED, **_MISSING})
async def find_connection(ends: BothEnds, connections: Connections, if_changed: IfChanged) -> Response:
    """The shortest chain of objects between two, in which each names the next or is named by it."""
    start, goal = (ends.from_class, ends.from_key), (ends.to_class, ends.to_key)
    return if_changed.answer(await connections.between(start, goal))
