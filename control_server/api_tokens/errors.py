"""Refusals of personal access tokens."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import Unauthenticated


class ApiTokenRefused(Unauthenticated):
    """The access token is unknown, revoked or expired."""

    code: ClassVar[str] = "api_token_refused"
