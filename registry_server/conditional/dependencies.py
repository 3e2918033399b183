"""Answers with validators (RFC 9110, section 13), for every feature that has JSON or text to give."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import Depends, Request, Response, status
from pydantic import BaseModel


class Conditional:
    """Answers with a validator, and without a body to who has that body already (RFC 9110, section 13)."""

    def __init__(self, request: Request) -> None:
        """Note what the client has."""
        header = request.headers.get("if-none-match", "")
        self._known = {tag.strip().removeprefix("W/") for tag in header.split(",")}

    def answer(self, record: BaseModel, passing: frozenset[str] = frozenset()) -> Response:
        """The record, or 304. The validator is that of the bytes, so it outlives a restart and a sync.

        With fields that change by themselves as time goes by the validator is a weak one, without them.
        """
        body = record.model_dump_json().encode()
        lasting = record.model_dump_json(exclude=set(passing)).encode() if passing else body
        strong = f'"{hashlib.sha256(lasting).hexdigest()[:32]}"'
        headers = {"ETag": f"W/{strong}" if passing else strong, "Cache-Control": "no-cache"}
        if strong in self._known or "*" in self._known:
            return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    def text(self, raw: bytes, tag: str) -> Response:
        """Plain text, or 304; `tag` changes with the text. No browser shall take it for anything else."""
        headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        if f'"{tag}"' in self._known or "*" in self._known:
            return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return Response(raw, media_type="text/plain; charset=utf-8", headers=headers)


IfChanged = Annotated[Conditional, Depends(Conditional)]
