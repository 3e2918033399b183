"""Algorithms and stages of signing keys."""

from __future__ import annotations

from enum import StrEnum


class Algorithm(StrEnum):
    """What we sign with (RFC 7518); nothing else is ever accepted, `none` least of all."""

    ES256 = "ES256"
    RS256 = "RS256"


class Stage(StrEnum):
    """Where a key is in its life."""

    #: Published, so that verifiers know it before it is used.
    NEXT = "next"
    #: Signs.
    CURRENT = "current"
    #: Signs no more, verifies still.
    PREVIOUS = "previous"
