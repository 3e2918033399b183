"""Everything that one node runs, in one document: complete, strict, versioned and comparable."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import Field, model_validator

from shared.protocol.desired_state.canonical import canonical
from shared.protocol.desired_state.links import Link
from shared.protocol.desired_state.names import Part
from shared.protocol.desired_state.node import (
    AnycastInterface,
    KernelOptions,
    LogOptions,
    NodeIdentity,
    StaticRoute,
)
from shared.protocol.desired_state.peerings import Peering
from shared.protocol.desired_state.routing import BfdDefaults, Collector, Ibgp, Igp, Policy, RoaOptions

#: Greatest document in bytes, as canonical JSON.
MAX_DOCUMENT_BYTES = 4_194_304


class DesiredState(Part):
    """What a node should run. Derived from the facts; nothing in it is a fact of its own."""

    version: Literal["v1"] = "v1"
    node: NodeIdentity
    links: tuple[Link, ...] = Field(default=(), max_length=4096)
    anycast: tuple[AnycastInterface, ...] = Field(default=(), max_length=64)
    log: LogOptions = LogOptions()
    kernel: KernelOptions = KernelOptions()
    static_routes: tuple[StaticRoute, ...] = Field(default=(), max_length=4096)
    policy: Policy = Policy()
    roa: RoaOptions = RoaOptions()
    bfd: BfdDefaults = BfdDefaults()
    igp: Igp = Igp()
    ibgp: Ibgp = Ibgp()
    peerings: tuple[Peering, ...] = Field(default=(), max_length=4096)
    collectors: tuple[Collector, ...] = Field(default=(), max_length=16)
    #: False: the node is decommissioned and routes nothing.
    routing: bool = True

    @model_validator(mode="after")
    def _names_once(self) -> DesiredState:
        _refuse_twice("interface", (link.interface for link in self.links))
        _refuse_twice("peering", (peering.name for peering in self.peerings))
        _refuse_twice("iBGP neighbor", (neighbor.name for neighbor in self.ibgp.neighbors))
        _refuse_twice("RTR server", (server.name for server in self.roa.servers))
        _refuse_twice("collector", (collector.name for collector in self.collectors))
        ports = [link.listen_port for link in self.links if link.kind == "wireguard" and link.listen_port]
        _refuse_twice("listen_port", map(str, ports))
        return self

    def canonical(self, known: Mapping[str, str] = MappingProxyType({})) -> bytes:
        """The one spelling of this state: UTF-8 JSON, keys sorted, no blanks.

        `known` has fields that were spelled before.
        """
        return canonical(self, known)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return digest_of(self.canonical())


class PublishedState(Part):
    """A generation as the agent pulls it."""

    generation: int = Field(ge=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="Of the canonical bytes of `state`")
    state: DesiredState

    @model_validator(mode="after")
    def _unharmed(self) -> PublishedState:
        if self.state.digest != self.sha256:
            message = "the digest does not fit the state"
            raise ValueError(message)
        return self


def digest_of(spelling: bytes) -> str:
    """SHA-256 of canonical bytes, in hexadecimal."""
    return hashlib.sha256(spelling).hexdigest()


def _refuse_twice(what: str, names: Iterable[str]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        message = f"{what} {twice[0]} is there twice"
        raise ValueError(message)
