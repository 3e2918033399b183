"""Wiring of the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from registry_server.history.dependencies import History
from registry_server.objects.schemas import ProblemCode, Severity
from registry_server.schema.dependencies import Schemas
from shared.web.principals import find_principal

_Cursor = Annotated[str | None, Query(max_length=2048)]

#: Whoever looks: what a registry says is public, but only some may sync.
know_visitor = Depends(find_principal)


@dataclass(frozen=True, slots=True)
class Search:
    """What somebody looks for."""

    q: Annotated[str, Query(max_length=100)] = ""
    object_class: Annotated[str, Query(alias="class", max_length=40)] = ""
    cursor: _Cursor = None


@dataclass(frozen=True, slots=True)
class Problems:
    """Which problems are shown."""

    code: ProblemCode | None = None
    severity: Severity | None = None
    cursor: _Cursor = None


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of an object beyond its text: how it came to be, and what its class asks of it."""

    history: History
    schemas: Schemas


Life = Annotated[Around, Depends()]
Asked = Annotated[Search, Depends()]
Chosen = Annotated[Problems, Depends()]
