"""The words of this feature: a class as its schema describes it, and what an object has against that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from registry_server.objects.schemas import Severity

_NEXT = "Give as `cursor` to go on; null at the end"


class Presence(StrEnum):
    """Whether objects of a class have an attribute; the words are those of the schema files."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    RECOMMENDED = "recommend"
    DEPRECATED = "deprecate"


class SchemaSource(StrEnum):
    """Who describes a class."""

    #: A schema object of the registry.
    REGISTRY = "registry"
    #: This server, where the registry has no schema for the class.
    BUILT_IN = "built-in"


class AttributeRule(BaseModel):
    """One attribute of a class."""

    model_config = ConfigDict(frozen=True)

    name: str
    presence: Presence
    single: bool = Field(description="Whether it may stand only once")
    primary: bool = Field(default=False, description="Whether it is the key by which objects are found")
    heads: bool = Field(default=False, description="Whether it names the class, and so stands first")
    lookup: tuple[str, ...] = Field(default=(), description="Classes of the objects that its words name")
    form: str | None = Field(default=None, description="How values are written, in the schema's own notation")


class SchemaFault(BaseModel):
    """A line of a schema that cannot be read; the rest of the schema counts."""

    model_config = ConfigDict(frozen=True)

    line: int
    detail: str


_CONFIG = ConfigDict(
    frozen=True,
    json_schema_extra={
        "examples": [
            {
                "object_class": "aut-num",
                "source": "registry",
                "schema_key": "AUT-NUM-SCHEMA",
                "directory": "aut-num",
                "primary_key": "aut-num",
                "owners": ["as-block"],
                "attributes": [
                    {
                        "name": "mnt-by",
                        "presence": "required",
                        "single": False,
                        "primary": False,
                        "heads": False,
                        "lookup": ["mntner"],
                        "form": "[mntner]",
                    }
                ],
                "faults": [],
            }
        ]
    },
)


class ClassSchema(BaseModel):
    """What an object of one class is made of; `x-…` may be added to any."""

    model_config = _CONFIG

    object_class: str
    source: SchemaSource
    schema_key: str | None = Field(description="The schema object; null where the class has none")
    directory: str = Field(description="Where such objects stand under `data/`")
    primary_key: str
    owners: tuple[str, ...] = Field(description="Classes whose objects have such objects to give")
    attributes: tuple[AttributeRule, ...]
    faults: tuple[SchemaFault, ...] = ()

    @cached_property
    def rules(self) -> Mapping[str, AttributeRule]:
        """What is said of each attribute, by its name."""
        return {each.name: each for each in self.attributes}

    @cached_property
    def head(self) -> str:
        """The attribute that names the class."""
        return next((each.name for each in self.attributes if each.heads), self.object_class)

    @cached_property
    def wanted(self) -> Sequence[AttributeRule]:
        """The attributes that should be there."""
        return [
            each for each in self.attributes if each.presence in {Presence.REQUIRED, Presence.RECOMMENDED}
        ]


class SchemaList(BaseModel):
    """Every class that objects may have."""

    items: list[ClassSchema]


class FindingCode(StrEnum):
    """What an object may have against the schema of its class."""

    MISSING = "missing_attribute"
    REPEATED = "repeated_attribute"
    FIRST = "wrong_first_attribute"
    UNKNOWN = "unknown_attribute"
    DANGLING = "dangling_reference"
    FORM = "invalid_form"
    DEPRECATED = "deprecated_attribute"
    NOT_RECOMMENDED = "recommended_attribute_missing"


_NOTICES = frozenset({FindingCode.FORM, FindingCode.DEPRECATED, FindingCode.NOT_RECOMMENDED})


class Finding(NamedTuple):
    """One of these, at a line counted from 1, or about the object as a whole."""

    code: FindingCode
    line: int | None
    detail: str

    @property
    def severity(self) -> Severity:
        """Fixed for each code; nothing that a schema finds keeps an object from being used."""
        return Severity.NOTICE if self.code in _NOTICES else Severity.WARNING


class FindingRead(BaseModel):
    """One thing that an object has against the schema of its class."""

    object_class: str
    key: str
    code: str
    severity: Severity
    line: int | None = Field(description="Counted from 1; null for the object as a whole")
    detail: str

    @classmethod
    def of(cls, object_class: str, key: str, finding: Any) -> FindingRead:
        """Of a finding about this object, whether by the grammar or by the schema."""
        return cls(
            object_class=object_class,
            key=key,
            code=finding.code.value,
            severity=finding.severity,
            line=finding.line,
            detail=finding.detail,
        )


class FindingPage(BaseModel):
    """Findings in the order of classes and keys."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "items": [
                        {
                            "object_class": "aut-num",
                            "key": "AS4242429901",
                            "code": "unknown_attribute",
                            "severity": "warning",
                            "line": 4,
                            "detail": "nick is no attribute of aut-num; write x-nick for one of your own",
                        }
                    ],
                    "total": 1,
                    "next": None,
                }
            ]
        }
    )

    items: list[FindingRead]
    total: int
    next: str | None = Field(default=None, description=_NEXT)
