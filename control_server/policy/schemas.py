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


class SessionEffects(BaseModel):
    """What a change does to the sessions of a node."""

    kept: int = Field(default=0, description="How many go on as they are")
    added: list[str] = Field(default_factory=list)
    restarted: list[str] = Field(default_factory=list, description="End for a moment and begin anew")
    removed: list[str] = Field(default_factory=list)


class NodeChangeRead(BaseModel):
    """What a change would do to one node."""

    node_id: str
    generation: int = Field(description="The number that it would have")
    changes: list[StateChange]
    files: list[FileDifference]
    unsupported: list[str] = Field(description="Options that the node's BIRD does not know")
    bird_version: str = Field(default="", description="Of the node; empty while it has told none")
    sessions: SessionEffects = SessionEffects()
    drifted: list[str] = Field(default_factory=list, description="What differs there now, and is overwritten")


class ChangePreview(BaseModel):
    """A change that was not made, and what it would do to every node that it touches."""

    preview_id: str | None = Field(description="The rendered files, for an hour, under /api/v1/previews")
    expires_in: int | None = Field(default=None, description="Seconds until those files are forgotten")
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


class FactForm(BaseModel):
    """What every form of facts has beside them."""

    version: int = 0
    #: How the form was first shown, so that a later look knows what somebody changed.
    was: str = ""
    #: The form is to be drawn again with what was typed, and nothing is to be done.
    edit: str = ""


class PolicyForm(FactForm):
    """The form of the policy as it was typed; lists have a line for each member."""

    profile: str = ""
    allowed4: str = ""
    allowed6: str = ""
    max_path: str = ""
    bad_asn: str = ""
    transit_asn: str = ""
    roa_mode: str = ""
    rtr_servers: str = ""
    bfd_interfaces: str = ""
    bfd_min_rx: str = ""
    bfd_min_tx: str = ""
    bfd_multiplier: str = ""
    igp: str = ""
    ibgp: str = ""
    reflectors: str = ""
    inside_bfd: str = ""
    collectors: str = ""
