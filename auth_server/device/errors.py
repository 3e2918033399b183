"""Refusals of the device flow: in OAuth's words to the device, in plain ones to the person."""

from __future__ import annotations

from typing import ClassVar

from auth_server.clients.errors import OAuthError
from shared.kernel.errors import AppError, Kind


class AuthorizationPending(OAuthError):
    """Nobody has confirmed the code yet. Ask again after the interval."""

    code = "authorization_pending"
    error = "authorization_pending"
    #: When the device asked counts, although it is refused.
    rolls_back: ClassVar[bool] = False


class AskedTooSoon(OAuthError):
    """The interval between two questions was not kept; it is five seconds longer from now on."""

    code = "device_asked_too_soon"
    error = "slow_down"
    rolls_back: ClassVar[bool] = False


class DeviceRefused(OAuthError):
    """The person refused."""

    code = "device_refused"
    error = "access_denied"


class DeviceCodeExpired(OAuthError):
    """Nobody confirmed the code in time. Start again."""

    code = "device_code_expired"
    error = "expired_token"


class UserCodeUnknown(AppError):
    """No device waits for this code. It may be mistyped, too old, or answered already."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "user_code_unknown"


class NothingToGive(AppError):
    """The device asks for nothing that your role may give away."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "device_nothing_to_give"
