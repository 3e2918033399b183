"""Refusals of the agents' link."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Forbidden, Kind, Unauthenticated


class AgentTokenRefused(Unauthenticated):
    """The agent token is unknown or revoked. Enrol the node again with a new enrolment token."""

    code: ClassVar[str] = "agent_token_refused"


class WrongNode(Forbidden):
    """The token belongs to another node."""

    code: ClassVar[str] = "agent_wrong_node"


class FrameRefused(AppError):
    """The frame is not acceptable."""

    kind: ClassVar[Kind] = Kind.INVALID
    code: ClassVar[str] = "frame_refused"


class TooManyFrames(AppError):
    """The agent sends faster than the server takes."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "agent_too_fast"
