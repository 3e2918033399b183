"""The words of this feature."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from registry_server.schema.schemas import FindingRead

#: Longer texts are no objects, and more changes no request that anybody reads.
LONGEST_TEXT, MOST_CHANGES = 65_536, 50


class PolicyCode(StrEnum):
    """Why a change is against the registry's rules."""

    NAME = "policy_name"
    #: The object is there already, and somebody else's.
    NOT_YOURS = "policy_not_yours"
    #: Nothing in the registry has the number or the addresses to give.
    OUTSIDE = "policy_outside"
    #: What has them is not open, and somebody else's.
    NOT_OPEN = "policy_not_open"


class Change(NamedTuple):
    """One object as it was and as it shall be; None where it is not there."""

    path: str
    object_class: str
    key: str
    before: bytes | None
    after: bytes | None


class Objection(NamedTuple):
    """One thing that speaks against a change."""

    path: str
    code: PolicyCode
    detail: str


class Holder(NamedTuple):
    """An object that has numbers or addresses to give."""

    object_class: str
    key: str
    policy: str
    maintained_by: tuple[str, ...]
    lower: tuple[str, ...]


Word = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class WantedChange(BaseModel):
    """One object to add, change or remove. A text says its class and key itself."""

    model_config = ConfigDict(extra="forbid")

    object_class: Word | None = Field(default=None, description="Needed to remove an object")
    key: Word | None = Field(default=None, description="Needed to remove an object")
    text: Annotated[str, StringConstraints(max_length=LONGEST_TEXT)] | None = Field(
        default=None, description="The object as it shall be; null removes it"
    )


class PolicyQuestion(BaseModel):
    """What a maintainer would like to change."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "mntner": "FOO-MNT",
                    "changes": [
                        {
                            "text": "aut-num:            AS4242429901\n"
                            "as-name:            FOO-AS\n"
                            "mnt-by:             FOO-MNT\n"
                            "source:             DN42\n"
                        },
                        {"object_class": "route", "key": "172.20.0.0/24", "text": None},
                    ],
                }
            ]
        },
    )

    mntner: Word | None = Field(default=None, description="Who asks; without it names and texts alone count")
    changes: Annotated[list[WantedChange], Field(min_length=1, max_length=MOST_CHANGES)]


class Action(StrEnum):
    """What a change does."""

    ADD = "add"
    CHANGE = "change"
    REMOVE = "remove"


class ObjectionRead(BaseModel):
    """One thing in the registry's rules that speaks against a change."""

    code: PolicyCode
    detail: str


class HolderRead(BaseModel):
    """An object that has what a new object would take; the first is the nearest and decides."""

    object_class: str
    key: str
    policy: str = Field(description="`open`, `ask`, `closed`, `reserved`, or empty where it says none")
    mnt_by: list[str]
    mnt_lower: list[str]


class Verdict(BaseModel):
    """What the registry has to say of one change."""

    object_class: str
    key: str
    path: str = Field(description="Where the object stands, or would stand")
    action: Action
    allowed: bool = Field(description="Whether nothing in the registry's rules speaks against it")
    objections: list[ObjectionRead]
    problems: list[FindingRead] = Field(description="What is wrong with the text, by grammar and by schema")
    around: list[HolderRead] = Field(description="Who has what a new object takes, the nearest first")


class PolicyAnswer(BaseModel):
    """What the registry has to say of a request. Nothing is changed by it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "mntner": "FOO-MNT",
                    "allowed": True,
                    "changes": [
                        {
                            "object_class": "aut-num",
                            "key": "AS4242429901",
                            "path": "data/aut-num/AS4242429901",
                            "action": "add",
                            "allowed": True,
                            "objections": [],
                            "problems": [],
                            "around": [
                                {
                                    "object_class": "as-block",
                                    "key": "AS4242429900-AS4242429999",
                                    "policy": "open",
                                    "mnt_by": ["DN42-MNT"],
                                    "mnt_lower": [],
                                }
                            ],
                        }
                    ],
                }
            ]
        }
    )

    mntner: str | None
    allowed: bool = Field(description="Whether every change is; texts may have problems all the same")
    changes: list[Verdict]
