"""Wiring of schemas."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from registry_server.schema.service import SchemaService
from registry_server.snapshot.dependencies import Opened


def _schemas(request: Request, _opened: Opened) -> SchemaService:
    service: SchemaService = request.app.state.schemas
    return service


Schemas = Annotated[SchemaService, Depends(_schemas)]
