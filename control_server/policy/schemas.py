"""Wire shapes of the fleet's policy."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shared.protocol.desired_state.node import NodeId
from shared.protocol.desired_state.routing import BfdDefaults, Collector, Policy, RoaOptions


class StateChange(BaseModel):
    """One difference between two desired states, by the names of things."""

    path: str = Field(examples=["peerings.f.session.policy.prepend"])
    before: Any = None
    after: Any = None


class FileDifference(BaseModel):
    """One rendered file before and after, as a unified difference."""

    path: str
    difference: str


class NodeChangeRead(BaseModel):
    """What a change would do to one node."""

    node_id: str
    generation: int = Field(description="The number that it would have")
    changes: list[StateChange]
    files: list[FileDifference]
    unsupported: list[str] = Field(description="Options that the node's BIRD does not know")


class ChangePreview(BaseModel):
    """A change that was not made, and what it would do to every node that it touches."""

    preview_id: str | None = Field(description="The rendered files, for an hour, under /api/v1/previews")
    nodes: list[NodeChangeRead]


class InsideRouting(BaseModel):
    """How the fleet's own nodes find one another."""

    model_config = ConfigDict(extra="forbid")

    igp: Literal["off", "ospf", "babel"] = Field(default="ospf", description="On links between own nodes")
    ibgp: Literal["off", "full_mesh", "reflector"] = "full_mesh"
    reflectors: list[NodeId] = Field(default_factory=list, max_length=16, description="With mode `reflector`")
    bfd: bool = Field(default=False, description="BFD on links between own nodes and on iBGP")


class PolicyWrite(BaseModel):
    """Facts of the whole fleet."""

    model_config = ConfigDict(extra="forbid")

    policy: Policy = Policy()
    roa: RoaOptions = RoaOptions()
    bfd: BfdDefaults = BfdDefaults()
    inside: InsideRouting = InsideRouting()
    collectors: list[Collector] = Field(default_factory=list, max_length=16)


class PolicyRead(PolicyWrite):
    """The facts as they stand."""

    version: int = Field(description="Send it as `If-Match` when you change them; 0 is: never written")
    updated_at: datetime | None = None
    updated_by: str = ""
