"""Background work of the device flow."""

from __future__ import annotations

from datetime import timedelta

from auth_server.device.dependencies import device_service
from auth_server.tokens.dependencies import TokenParts, token_services
from shared.cache.throttling import SignInThrottle
from shared.kernel.loops import Loop


def loops(parts: TokenParts) -> list[Loop]:
    """Forgets codes that nobody confirmed."""

    async def forget() -> None:
        async with parts.resources.database.transaction() as session:
            services = token_services(parts, session)
            throttle = SignInThrottle(parts.resources.now, ())
            await device_service(parts, session, services, throttle).forget()

    return [Loop("device.forget", forget, interval=timedelta(hours=1))]
