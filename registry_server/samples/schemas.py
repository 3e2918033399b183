"""What a sample is asked to be, and what was planted in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field


class SamplePlan(BaseModel):
    """How large a sample is, and which one of that size."""

    model_config = ConfigDict(frozen=True)

    objects: int = Field(default=300, ge=100, le=50_000, description="Objects at the tip, about")
    commits: int = Field(default=20, ge=2, le=10_000, description="Commits on the first-parent line")
    seed: int = Field(default=1, description="The same seed gives the same commit ids")
    #: Rewrite the last commits, as an operator who pushes by force does.
    force_push: bool = False


class PlantedProblem(BaseModel):
    """One problem that a reader of the sample must find."""

    model_config = ConfigDict(frozen=True)

    path: str
    code: str
    line: int | None


class Manifest(BaseModel):
    """What is at the tip of a sample; a mirror of it must count the same."""

    plan: SamplePlan
    head: str
    commits: int
    #: Objects by class, broken ones included.
    objects: dict[str, int]
    #: Pairs of prefix and origin that may be announced, by class of the route object.
    routes: dict[str, int]
    #: Problems by code.
    problems: dict[str, int]
    planted: list[PlantedProblem]


class Planted(NamedTuple):
    """A code and the line it must be reported at."""

    code: str
    line: int | None


@dataclass(frozen=True, slots=True)
class SampleFile:
    """One file of the sample and what a reader must make of it."""

    path: bytes
    raw: bytes
    #: None for files that are no objects.
    object_class: str | None = None
    #: How many pairs of prefix and origin may be derived from it.
    routes: int = 0
    problems: tuple[Planted, ...] = ()


class Change(NamedTuple):
    """One file as a commit leaves it; None where the commit deletes it."""

    path: bytes
    raw: bytes | None


class Commit(NamedTuple):
    """One step of the history; `side` steps were made on a branch and merged by the step itself."""

    message: str
    changes: tuple[Change, ...]
    side: bool = False
