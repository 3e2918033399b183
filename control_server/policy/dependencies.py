"""Wiring of the fleet's policy, and of the version that a writer has read."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Query, Request, Response, status
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.audit.dependencies import AuditTrail
from control_server.audit.service import Audit
from control_server.policy.errors import VersionMissing
from control_server.policy.repository import PolicyRepository
from control_server.policy.service import PolicyReader, PolicyService, Publisher
from shared.database import forget_after_commit
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.problems import Problem
from shared.web.transactions import Session

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ENTITY_TAG = re.compile(r'^(?:W/)?"(\d{1,9})"$')

#: Name of the field in which a form says why.
REASON_FIELD = "publish_reason"
_LONGEST_REASON = 200

Reader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]
Writer = Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]


async def _publisher(
    request: Request,
    session: Session,
    preview: Annotated[  # noqa: FBT002 - FastAPI passes it by name
        bool,
        Query(description="Change nothing: answer what would be published, with its files and differences"),
    ] = False,
    reason: Annotated[
        str, Query(max_length=200, description="Why; stands in the generations that follow from it")
    ] = "",
) -> AsyncIterator[Publisher]:
    publishing = request.app.state.publishing
    if request.method in _SAFE:
        yield publishing.reading(session)
        return
    # Who waits for a turn here holds no connection to the database meanwhile.
    async with publishing.turn():
        note = reason or await _typed_reason(request)
        yield await publishing.writing(session, preview=preview, note=note)
        if preview:
            # Whatever the endpoint made of it: a preview writes nothing.
            await session.rollback()
            forget_after_commit(session)


async def _typed_reason(request: Request) -> str:
    """What the bar of the publish page says; an API has its parameter for it."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return ""
    typed = (await request.form()).get(REASON_FIELD, "")
    return typed.strip()[:_LONGEST_REASON] if isinstance(typed, str) else ""


def policy_reader(session: AsyncSession) -> PolicyReader:
    """The policy for those who derive something from it."""
    return PolicyReader(PolicyRepository(session))


PublisherOf = Annotated[Publisher, Depends(_publisher, scope="function")]


@dataclass(frozen=True, slots=True)
class Versions:
    """The version that the caller has read (RFC 9110, section 13.1.1), and the one that the answer has."""

    read: int
    response: Response

    def tag(self, version: int) -> None:
        """Say the version of what is answered (RFC 9110, section 8.8.3)."""
        tag(self.response, version)


async def _read_version(
    request: Request,
    response: Response,
    if_match: Annotated[
        str | None,
        Header(description="Required: the `ETag` of what you have read; without it the answer is 428"),
    ] = None,
) -> Versions:
    found = _ENTITY_TAG.match((if_match or "").strip())
    if found is None:
        raise VersionMissing.of(_read_at(request))
    return Versions(int(found[1]), response)


def _read_at(request: Request) -> str:
    """Where the tag is read: beside what is written, save for a node, whose facts are a part of it."""
    path = request.url.path
    return f"{path}/facts" if "node_id" in request.path_params else path


ReadVersion = Annotated[Versions, Depends(_read_version)]

#: What a route that takes `ReadVersion` says of its refusals.
VERSIONED: dict[int | str, dict[str, Any]] = {
    status.HTTP_409_CONFLICT: {
        "description": "Changed since it was read; the problem has both versions",
        "model": Problem,
    },
    status.HTTP_428_PRECONDITION_REQUIRED: {
        "description": "`If-Match` is missing or names no version; the problem says where it is read",
        "model": Problem,
    },
}


def tag(response: Response, version: int) -> None:
    """Say the version of what is answered (RFC 9110, section 8.8.3)."""
    response.headers["ETag"] = f'"{version}"'


@dataclass(frozen=True, slots=True)
class Writing:
    """What every writer of facts needs: the request's session, its trail and its publisher."""

    session: AsyncSession
    audit: Audit
    publisher: Publisher
    now: Clock


async def _writing(request: Request, session: Session, audit: AuditTrail, publisher: PublisherOf) -> Writing:
    return Writing(session, audit, publisher, request.app.state.resources.now)


WritingOf = Annotated[Writing, Depends(_writing)]


async def _policy(
    request: Request, session: Session, audit: AuditTrail, publisher: PublisherOf
) -> PolicyService:
    return PolicyService(PolicyRepository(session), audit, publisher, request.app.state.resources.now)


PolicyOf = Annotated[PolicyService, Depends(_policy)]
