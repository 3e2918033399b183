"""SQL of grants, refresh tokens and logouts to be told: in a session, and in one statement each."""

from auth_server.tokens.repository.at_once import AtOnceRepository, FirstToken, NextToken
from auth_server.tokens.repository.in_session import (
    EndedTokenRepository,
    GrantRepository,
    LogoutRepository,
    RefreshTokenRepository,
)

__all__ = [
    "AtOnceRepository",
    "EndedTokenRepository",
    "FirstToken",
    "GrantRepository",
    "LogoutRepository",
    "NextToken",
    "RefreshTokenRepository",
]
