"""The words of this feature."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


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
