"""Portal routes of the registry. Everybody may read; a sync needs its permission."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from registry_server.history.dependencies import History
from registry_server.history.rules.places import path_of
from registry_server.lookup.dependencies import Catalogue, Findings
from registry_server.lookup.schemas import Match
from registry_server.mirror.dependencies import Mirror, Syncer
from registry_server.mirror.schemas import SyncTrigger
from registry_server.objects.schemas import ProblemCode, Severity
from registry_server.portal import rules
from registry_server.portal.dependencies import Visitor
from shared.web.rendering import render

router = APIRouter(prefix="/registry", include_in_schema=False)
_LISTED, _LINKS, _CHANGES = 50, 30, 20
Text = Annotated[str, Query(max_length=100)]
Cursor = Annotated[str | None, Query(max_length=2048)]
ObjectClass = Annotated[str, Path(max_length=40)]
Key = Annotated[str, Path(max_length=512)]


@router.get("/")
async def show_search(  # noqa: PLR0913, PLR0917 - each is one part of the question
    request: Request,
    _visitor: Visitor,
    findings: Findings,
    mirror: Mirror,
    q: Text = "",
    object_class: Annotated[str, Query(alias="class", max_length=40)] = "",
    cursor: Cursor = None,
) -> Response:
    """Find objects by words, or blocks by an address; without a question say what there is."""
    wanted = q.strip()
    classes = [object_class] if object_class in rules.class_names() else []
    blocks = inside = page = None
    if rules.means_addresses(wanted):
        blocks = await findings.prefix(wanted, Match.COVERING, None, _LISTED)
        inside = await findings.prefix(wanted, Match.MORE_SPECIFIC, cursor, _LISTED)
    elif len(wanted) > 1:
        page = await findings.search(wanted, classes, cursor, _LISTED)
    return render(
        request,
        "portal/search.html",
        q=wanted,
        chosen=object_class,
        classes=[(name, name) for name in rules.class_names()],
        blocks=blocks,
        inside=inside,
        page_of=page,
        status=await mirror.status(),
        address_of=rules.address_of,
    )


@router.get("/objects/{object_class}/{key:path}/changes/{commit}")
async def show_change(
    request: Request,
    _visitor: Visitor,
    object_class: ObjectClass,
    key: Key,
    commit: Annotated[str, Path(pattern="^[0-9a-f]{7,40}$")],
    history: History,
) -> Response:
    """What one commit did to an object."""
    change = await history.change(path_of(object_class, key), commit)
    return render(
        request,
        "portal/change.html",
        object_class=object_class,
        key=key,
        change=change,
        lines=list(rules.drawn(change.diff)),
        address_of=rules.address_of,
    )


@router.get("/objects/{object_class}/{key:path}")
async def show_object(  # noqa: PLR0913, PLR0917 - each is one part of the question
    request: Request,
    _visitor: Visitor,
    object_class: ObjectClass,
    key: Key,
    catalogue: Catalogue,
    history: History,
    attribute: Annotated[str | None, Query(max_length=60)] = None,
    cursor: Cursor = None,
) -> Response:
    """One object: what it says, who names it, how it came to be."""
    shown = await catalogue.get(object_class, key)
    found = await catalogue.find(object_class, key)
    return render(
        request,
        "portal/object.html",
        shown=shown,
        links=await catalogue.backlinks(found, attribute, cursor, _LINKS),
        attribute=attribute,
        changes=await history.latest(shown.path, _CHANGES),
        address_of=rules.address_of,
    )


@router.get("/sync")
async def show_sync(  # noqa: PLR0913, PLR0917 - each is one part of the question
    request: Request,
    _visitor: Visitor,
    mirror: Mirror,
    catalogue: Catalogue,
    code: ProblemCode | None = None,
    severity: Severity | None = None,
    cursor: Cursor = None,
) -> Response:
    """How the mirror stands, how it got there, and what is wrong with the registry."""
    return render(
        request,
        "portal/sync.html",
        status=await mirror.status(),
        problems=await catalogue.problems(code, severity, cursor, _LISTED),
        code=code,
        severity=severity,
    )


@router.post("/sync")
async def sync_from_page(_syncer: Syncer, mirror: Mirror, force: Annotated[str, Form()] = "") -> Response:
    """Sync now."""
    await mirror.sync(SyncTrigger.REQUEST, force=force == "yes")
    return RedirectResponse("/registry/sync", status_code=303)
