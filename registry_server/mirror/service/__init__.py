"""Follows upstream: each new commit becomes one transaction on the index, and then a new version."""

from registry_server.mirror.service.mirror import MirrorService
from registry_server.mirror.service.tools import AfterSync, SyncObserver

__all__ = ["AfterSync", "MirrorService", "SyncObserver"]
