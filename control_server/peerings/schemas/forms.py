"""Forms as they were typed: every field a text, so that whatever was written is drawn again."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, Field

from control_server.policy.schemas import FactForm


@dataclass(frozen=True, slots=True)
class Derived:
    """A value that follows from others: its field, what it is, and where it comes from as a code."""

    field: str
    value: str
    source: str


class PeeringQuery(BaseModel):
    """Which peerings a page of the list shows; every word of `q` is to be found in a peering."""

    q: str = Field(default="", max_length=100)
    page: int = Field(default=1, ge=1, le=100_000)


class PeeringForm(BaseModel):
    """The wizard. What is left empty is derived, but for the keepalive, which is off then."""

    #: The third step is to be drawn again.
    edit: str = ""
    asn: str = ""
    public_key: str = ""
    endpoint: str = ""
    #: A whole `[Peer]` block; fills what of the two fields above is empty.
    pasted: str = ""
    neighbor6: str = ""
    name: str = ""
    description: str = ""
    listen_port: str = ""
    mtu: str = ""
    keepalive: str = ""
    local_pref: str = ""
    prepend: str = ""
    import_limit: str = ""
    latency: str = ""
    bandwidth: str = ""
    bfd: str = ""
    #: Empty: the policy's prefixes; `origin`: the neighbour's route objects; `set`: those of an as-set.
    registry_filter: str = ""
    as_set: str = ""
    #: Is never drawn again.
    preshared_key: str = Field(default="", repr=False)
    #: The same, sealed to the node when the peering was looked at before it is made.
    sealed_key: str = Field(default="", repr=False)


class PeeringEditForm(FactForm):
    """The form of a peering's changes."""

    description: str = ""
    enabled: str = ""
    endpoint: str = ""
    public_key: str = ""
    mtu: str = ""
    keepalive: str = ""
    local_pref: str = ""
    prepend: str = ""
    import_limit: str = ""
    latency: str = ""
    bandwidth: str = ""
    bfd: str = ""
    registry_filter: str = ""
    as_set: str = ""


class LinkForm(FactForm):
    """The form of a link, new or changed. The ends of one that exists are not to be changed."""

    node_a: str = ""
    node_b: str = ""
    enabled: str = ""
    kind: str = ""
    interface_a: str = ""
    interface_b: str = ""
    port_a: str = ""
    port_b: str = ""
    mtu: str = ""
    keepalive: str = ""
    cost: str = ""
    userspace: str = ""
