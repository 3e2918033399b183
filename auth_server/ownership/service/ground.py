"""What proving and checking again stand on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from auth_server.accounts.service import AccountService
from auth_server.audit.service import Audit
from auth_server.ownership.repository import OwnershipRepository
from auth_server.ownership.service.proofs import ProofService
from auth_server.ownership.store.registry import Registry
from auth_server.settings import OwnershipSettings
from shared.kernel.clock import Clock


@dataclass(frozen=True, slots=True)
class Work:
    """What one transaction can reach."""

    accounts: AccountService
    ownership: OwnershipRepository
    proofs: ProofService
    audit: Audit


@dataclass(frozen=True, slots=True)
class Ground:
    """The registry is never asked inside a transaction, so each use case opens its own."""

    registry: Registry
    settings: OwnershipSettings
    now: Clock
    #: Opens a transaction that commits at the end.
    open: Callable[[], AbstractAsyncContextManager[Work]]
    #: Opens a snapshot that cannot write.
    look: Callable[[], AbstractAsyncContextManager[Work]]
