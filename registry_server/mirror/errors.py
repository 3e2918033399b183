"""Why a sync did not happen. The last good state keeps serving in each of these cases."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class MirrorNotConfigured(AppError):
    """No registry is configured to be mirrored; `ROUTELOOM_REGISTRY_MIRROR__URL` names one."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "mirror_not_configured"


class SyncRunning(AppError):
    """Another process is syncing this registry right now."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "sync_running"


class SyncHeld(AppError):
    """The new state would drop too much of the registry; look at it, then force the sync if it is right."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "sync_held"


class UpstreamUnavailable(AppError):
    """The registry's repository cannot be fetched."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "registry_upstream_unavailable"


class RepositoryBroken(AppError):
    """The mirrored repository cannot be read."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "registry_repository_broken"


class WebhookNotConfigured(AppError):
    """No secret for webhooks is configured here."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "webhook_not_configured"


class WebhookRefused(AppError):
    """The signature is not that of the webhook's secret."""

    kind: ClassVar = Kind.UNAUTHENTICATED
    code: ClassVar = "webhook_refused"
