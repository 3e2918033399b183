"""Wiring of the device flow."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, FastAPI, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.dependencies import audit_service
from auth_server.clients.schemas import GrantType
from auth_server.device.errors import UserCodeUnknown
from auth_server.device.repository import DeviceRepository
from auth_server.device.service import DeviceService
from auth_server.keys import SIGN_IN_FAILURES
from auth_server.tokens.dependencies import (
    TokenParts,
    TokenServices,
    WritingTokens,
    address_of,
    token_services,
    writing_session,
)
from auth_server.tokens.service.redemption import Exchange
from shared.cache.failures import failure_counters
from shared.cache.throttling import SignInThrottle
from shared.kernel.errors import AppError

#: Where people type the code; clients begin at the same address by POST.
PAGE = "/auth/device"


def prepare(app: FastAPI, parts: TokenParts) -> None:
    """Let the token endpoint exchange device codes, and count wrong user codes for the process's life."""
    resources = parts.resources
    counters = failure_counters(resources.kv, SIGN_IN_FAILURES, resources.now)
    app.state.device_throttle = throttle = SignInThrottle(resources.now, counters, _is_guess)

    def make(session: AsyncSession, services: TokenServices) -> Exchange:
        return device_service(parts, session, services, throttle).redeem

    parts.exchanges[GrantType.DEVICE_CODE] = make


def _is_guess(refusal: AppError) -> bool:
    return isinstance(refusal, UserCodeUnknown)


def device_service(
    parts: TokenParts,
    session: AsyncSession,
    services: TokenServices,
    throttle: SignInThrottle,
    from_address: str = "",
) -> DeviceService:
    """The device flow inside a session of the database."""
    resources = parts.resources
    return DeviceService(
        DeviceRepository(session),
        services.clients,
        services.grants,
        services.redemption,
        audit_service(session, resources.now, from_address),
        throttle,
        f"{resources.settings.web.public_url}{PAGE}",
        resources.now,
    )


def _devices(
    request: Request, session: Annotated[AsyncSession, Depends(writing_session, scope="function")]
) -> DeviceService:
    state, address = request.app.state, address_of(request)
    services = token_services(state.tokens, session, address)
    return device_service(state.tokens, session, services, state.device_throttle, address)


def _for_clients(request: Request, tokens: WritingTokens) -> DeviceService:
    state = request.app.state
    return device_service(state.tokens, tokens.session, tokens, state.device_throttle, address_of(request))


#: In the transaction in which the client was authenticated; refusals are OAuth's.
DevicesForClients = Annotated[DeviceService, Depends(_for_clients)]
Devices = Annotated[DeviceService, Depends(_devices)]
