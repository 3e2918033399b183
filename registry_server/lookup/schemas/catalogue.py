"""Objects as they are listed, shown and linked."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from registry_server.objects.rules.typed import AttributeKind
from registry_server.objects.schemas import ProblemCode, Severity

_NEXT = "Give as `cursor` to go on; null at the end"
_RAW = "aut-num:            AS4242429901\nas-name:            FOO-AS\n…"


def example(**fields: Any) -> ConfigDict:
    """One example for the description of the interface."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class ObjectEntry(BaseModel):
    """One object in a list."""

    object_class: str
    key: str = Field(description="As written; found in any case")
    title: str = Field(description="The name that it gives itself; empty where it has none")
    indexed: bool = Field(description="False for a broken object: its text is served, nothing is derived")


_ENTRY = {"object_class": "aut-num", "key": "AS4242429901", "title": "FOO-AS", "indexed": True}


class ObjectPage(BaseModel):
    """Objects of one class in the order of their keys."""

    model_config = example(items=[_ENTRY], next=None)

    items: list[ObjectEntry]
    next: str | None = Field(default=None, description=_NEXT)


class AttributeRead(BaseModel):
    """One attribute; `parts` are its values, typed as `kind` says: numbers in digits, prefixes canonical."""

    name: str
    value: str
    line: int
    kind: AttributeKind
    parts: list[str]


class ReferenceRead(BaseModel):
    """One object that is named by another."""

    attribute: str
    object_class: str | None = Field(description="Null where there is no such object")
    key: str
    line: int


class ProblemRead(BaseModel):
    """Something wrong with a file."""

    path: str
    code: ProblemCode
    severity: Severity
    line: int | None = Field(description="Counted from 1; null for the file as a whole")
    detail: str


class ProblemPage(BaseModel):
    """Problems in the order of their paths and lines."""

    model_config = example(
        items=[
            {
                "path": "data/route/172.20.0.1_24",
                "code": "host_bits",
                "severity": "error",
                "line": 1,
                "detail": "172.20.0.1/24: bits are set behind the length; the block is 172.20.0.0/24",
            }
        ],
        next=None,
    )

    items: list[ProblemRead]
    next: str | None = Field(default=None, description=_NEXT)


class ObjectRead(BaseModel):
    """One object: what it says, what it names, who names it, and what is wrong with it."""

    model_config = example(
        object_class="aut-num",
        key="AS4242429901",
        path="data/aut-num/AS4242429901",
        blob="0123456789abcdef0123456789abcdef01234567",
        indexed=True,
        attributes=[
            {"name": "as-name", "value": "FOO-AS", "line": 2, "kind": "word", "parts": ["FOO-AS"]},
        ],
        references=[{"attribute": "mnt-by", "object_class": "mntner", "key": "FOO-MNT", "line": 4}],
        referenced_by={"member-of": 0},
        problems=[],
        raw=_RAW,
    )

    object_class: str
    key: str
    path: str
    blob: str = Field(description="Git's name of the text")
    indexed: bool
    attributes: list[AttributeRead]
    references: list[ReferenceRead]
    referenced_by: dict[str, int] = Field(description="How many objects name this one, by attribute")
    problems: list[ProblemRead]
    raw: str = Field(description="The text; `…/raw` has it byte for byte")


class BacklinkPage(BaseModel):
    """Objects that name one, in order."""

    model_config = example(items=[{**_ENTRY, "attribute": "mnt-by"}], next=None)

    items: list[Backlink]
    next: str | None = Field(default=None, description=_NEXT)


class Backlink(ObjectEntry):
    """An object that names another, and by which attribute."""

    attribute: str


BacklinkPage.model_rebuild()
