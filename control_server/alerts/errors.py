"""Refusals around channels and deliveries."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class ChannelNotFound(AppError):
    """There is no such channel."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "alert_channel_unknown"


class TooManyChannels(AppError):
    """There are as many channels as there may be; delete one first."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "alert_channels_exhausted"


class ReceiverRefused(AppError):
    """The receiver's address may not be called."""

    kind: ClassVar = Kind.INVALID
    code: ClassVar = "alert_receiver_refused"


class DeliveryFailed(AppError):
    """The receiver did not take the notification."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "alert_delivery_failed"
