"""Grants and what hangs on them: opened, redeemed, refreshed, shown, and ended."""

from auth_server.tokens.service.grants import GrantService
from auth_server.tokens.service.inspection import InspectionService
from auth_server.tokens.service.logouts import LogoutService
from auth_server.tokens.service.minting import Minter
from auth_server.tokens.service.plain import PlainExchange
from auth_server.tokens.service.redemption import RedemptionService
from auth_server.tokens.service.successors import Successors

__all__ = [
    "GrantService",
    "InspectionService",
    "LogoutService",
    "Minter",
    "PlainExchange",
    "RedemptionService",
    "Successors",
]
