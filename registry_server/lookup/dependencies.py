"""Wiring of look-ups."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import Depends, Request, Response, status
from pydantic import BaseModel

from registry_server.lookup.service import IdentityService, LookupService, VersionedAnswers
from registry_server.lookup.store import RecordStore
from registry_server.objects.rules.classes import fold


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


class Conditional:
    """Answers with a validator, and without a body to who has that body already (RFC 9110, section 13)."""

    def __init__(self, request: Request) -> None:
        """Note what the client has."""
        header = request.headers.get("if-none-match", "")
        self._known = {tag.strip().removeprefix("W/") for tag in header.split(",")}

    def answer(self, record: BaseModel) -> Response:
        """The record, or 304. The validator is that of the bytes, so it outlives a restart and a sync."""
        body = record.model_dump_json().encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if tag in self._known or "*" in self._known:
            return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return Response(body, media_type="application/json", headers=headers)


IfChanged = Annotated[Conditional, Depends(Conditional)]
