"""Wire shapes of previews, and the bundle behind them."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal

from pydantic import Base64Encoder, BaseModel, ConfigDict, EncodedBytes, Field, StringConstraints
from pydantic_core import PydanticCustomError

from control_server.nodes.schemas import NodeId
from control_server.peerings.schemas import LinkDocument
from control_server.policy.schemas import FileDifference, StateChange
from shared.protocol.desired_state.document import DesiredState

_MIB = 2**20
#: A whole bundle in base64 and JSON; what the store has no room for, it refuses itself.
MAX_REQUEST_BYTES = 32 * _MIB
PREVIEW_ID_PATTERN = r"^rt_[0-9a-z]{20}$"
#: Relative, plain, and never upwards.
_PATH_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,63}){0,7}$"
FilePath = Annotated[str, StringConstraints(pattern=_PATH_PATTERN, max_length=255)]
_Source = Annotated[str, StringConstraints(max_length=4 * _MIB)]


class _ExactBase64(Base64Encoder):
    """Refuses what the usual decoder leaves out in silence: a damaged file would pass for another one."""

    @classmethod
    def decode(cls, data: bytes) -> bytes:
        try:
            return binascii.a2b_base64(data, strict_mode=True)
        except binascii.Error:
            raise PydanticCustomError("base64_decode", "The text is not base64.") from None


_Asset = Annotated[bytes, EncodedBytes(_ExactBase64), Field(max_length=24 * _MIB)]


@dataclass(frozen=True, slots=True)
class Derived:
    """A state as it was derived, spelled once: for its digest, to be compared and to be stored."""

    state: DesiredState
    spelling: bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """A link as a state is derived from it."""

    node_a: str
    node_b: str
    enabled: bool
    document: LinkDocument

    def end_of(self, node_id: str) -> Literal["a", "b"]:
        """Which end a node is."""
        return "a" if node_id == self.node_a else "b"

    def interface(self, end: Literal["a", "b"]) -> str:
        """The interface at an end."""
        found = self.document.interface_a if end == "a" else self.document.interface_b
        assert found is not None  # noqa: S101 - given when the link is written
        return found

    def port(self, end: Literal["a", "b"]) -> int | None:
        """The port at an end."""
        return self.document.port_a if end == "a" else self.document.port_b


class GenerationSummary(BaseModel):
    """A generation without its state."""

    node_id: str
    number: int
    sha256: str
    reason: str
    actor_kind: str
    actor_name: str
    created_at: datetime
    changes: list[StateChange] = Field(description="How it differs from the one before")


class GenerationPage(BaseModel):
    """Generations of a node, newest first."""

    items: list[GenerationSummary]
    next_before: int | None = Field(description="Give it as `before` for the older ones")


class GenerationDetail(GenerationSummary):
    """A generation with its state; secrets in it are sealed to the node."""

    state: DesiredState


class GenerationDiff(BaseModel):
    """How one generation differs from another, in meaning and in files."""

    node_id: str
    before: int
    after: int
    changes: list[StateChange]
    files: list[FileDifference]


class RenderedFiles(BaseModel):
    """The files of a generation as the node's BIRD gets them; secrets are marks."""

    node_id: str
    number: int
    bird_version: str
    files: dict[str, str]


class NodeChange(BaseModel):
    """Facts of a node as they would be; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    node_id: NodeId
    site: str | None = Field(default=None, max_length=80)
    description: str | None = Field(default=None, max_length=500)
    labels: dict[str, str] | None = Field(default=None, max_length=32)
    allow_targets: list[IPv4Network | IPv6Network] | None = Field(default=None, max_length=64)
    deny_targets: list[IPv4Network | IPv6Network] | None = Field(default=None, max_length=64)


class PreviewCreate(BaseModel):
    """What to render."""

    model_config = ConfigDict(extra="forbid")

    nodes: list[NodeChange] = Field(default_factory=list, max_length=200, description="Facts to render")
    sources: dict[FilePath, _Source] = Field(
        default_factory=dict, max_length=200, description="Texts by path that go into the bundle as they are"
    )
    assets: dict[FilePath, _Asset] = Field(
        default_factory=dict, max_length=200, description="Binary files by path, in base64"
    )


class FileRead(BaseModel):
    """One file of a preview."""

    path: str
    kind: Literal["configuration", "module", "asset"]
    bytes: int
    sha256: str


class PreviewRead(BaseModel):
    """The manifest of a preview."""

    id: str
    created_at: datetime
    created_by: str
    expires_in: int = Field(description="Seconds that it lives unless it is closed")
    nodes: list[str]
    changed: list[str] = Field(description="Those of the nodes whose configuration would change")
    sha256: str = Field(description="Digest of everything that would be written")
    files: list[FileRead]


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What is rendered of one node."""

    node_id: str
    site: str
    description: str
    labels: Mapping[str, str]
    allow_targets: tuple[str, ...]
    deny_targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Everything that a change would write: one configuration, texts and binary files by path."""

    configuration: str
    modules: Mapping[str, str]
    assets: Mapping[str, bytes]
