"""Portal routes of the registry. Everybody may read; a sync needs its permission."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.responses import RedirectResponse

from registry_server.history.dependencies import History
from registry_server.history.rules.places import path_of
from registry_server.lookup.dependencies import Catalogue, Findings, Key, LinkPage, Name, ObjectClass, Page
from registry_server.lookup.schemas import Match
from registry_server.lookup.service import class_named
from registry_server.mirror.dependencies import Mirror, Syncer
from registry_server.mirror.schemas import SyncTrigger
from registry_server.portal import rules
from registry_server.portal.dependencies import Asked, Chosen, Life, know_visitor
from registry_server.schema.dependencies import Schemas
from shared.web.rendering import render

router = APIRouter(prefix="/registry", include_in_schema=False, dependencies=[know_visitor])
_LISTED, _LINKS, _CHANGES = 50, 30, 20


@router.get("/")
async def show_search(
    request: Request,
    findings: Findings,
    mirror: Mirror,
    asked: Asked,
) -> Response:
    """Find objects by words, or blocks by an address; without a question say what there is."""
    wanted = asked.q.strip()
    classes = [asked.object_class] if asked.object_class in rules.class_names() else []
    blocks = inside = page = None
    meaning = rules.meaning_of(wanted)
    if meaning is rules.Meaning.ADDRESSES:
        blocks = await findings.prefix(wanted, Match.COVERING, None, _LISTED)
        inside = await findings.prefix(wanted, Match.MORE_SPECIFIC, asked.cursor, _LISTED)
    elif meaning is rules.Meaning.WORDS:
        page = await findings.search(wanted, classes, asked.cursor, _LISTED)
    return render(
        request,
        "portal/search.html",
        status_code=422 if meaning in rules.REFUSED else 200,
        q=wanted,
        refused=meaning.value if meaning in rules.REFUSED else None,
        chosen=asked.object_class,
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


@router.get("/objects/{object_class}")
async def show_class(
    request: Request, object_class: ObjectClass, catalogue: Catalogue, schemas: Schemas, page: Page
) -> Response:
    """The objects of one class, and what they are made of."""
    named = class_named(object_class)
    return render(
        request,
        "portal/class.html",
        object_class=named,
        listed=await catalogue.list_class(named, page.cursor, page.limit),
        total=await catalogue.count_class(named),
        schema=schemas.find(named),
        address_of=rules.address_of,
    )


@router.get("/objects/{object_class}/{key:path}")  # noqa: FAST003 - both are in Name
async def show_object(
    request: Request,
    name: Name,
    catalogue: Catalogue,
    life: Life,
    page: LinkPage,
) -> Response:
    """One object: what it says, who names it, how it came to be; or how it ended."""
    found = await catalogue.look(name.object_class, name.key)
    if found is None:
        return await _show_missing(request, name, life.history)
    shown = await catalogue.read(found)
    return render(
        request,
        "portal/object.html",
        shown=shown,
        problems=rules.together(shown.problems, life.schemas.findings_of(found.object_class, found.raw)),
        links=await catalogue.backlinks(found, page.attribute, page.cursor, _LINKS),
        attribute=page.attribute,
        changes=await life.history.latest(shown.path, _CHANGES),
        address_of=rules.address_of,
    )


async def _show_missing(request: Request, name: Name, history: History) -> Response:
    object_class = class_named(name.object_class)
    return render(
        request,
        "portal/missing.html",
        status_code=404,
        object_class=object_class,
        key=name.key,
        changes=await history.latest(path_of(object_class, name.key), _CHANGES),
        address_of=rules.address_of,
    )


@router.get("/sync")
async def show_sync(
    request: Request,
    mirror: Mirror,
    catalogue: Catalogue,
    chosen: Chosen,
) -> Response:
    """How the mirror stands, how it got there, and what is wrong with the registry."""
    return render(
        request,
        "portal/sync.html",
        status=await mirror.status(),
        problems=await catalogue.problems(chosen.code, chosen.severity, chosen.cursor, _LISTED),
        code=chosen.code,
        severity=chosen.severity,
        by_job=request.app.state.syncs_by_job,
        object_page=rules.page_of,
    )


@router.post("/sync")
async def sync_from_page(_syncer: Syncer, mirror: Mirror, force: Annotated[str, Form()] = "") -> Response:
    """Sync now."""
    await mirror.sync(SyncTrigger.REQUEST, force=force == "yes")
    return RedirectResponse("/registry/sync", status_code=303)
