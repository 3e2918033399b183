"""Facts of the whole fleet, and the word that facts have changed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from control_server.audit.service import Audit
from control_server.policy.errors import FactChanged
from control_server.policy.models import FleetPolicy
from control_server.policy.repository import PolicyRepository
from control_server.policy.schemas import ChangePreview, PolicyRead, PolicyWrite
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal


class Publisher(Protocol):
    """Turns changed facts into generations, in the transaction that changed them."""

    async def publish(self, actor: Principal, reason: str, nodes: Collection[str] | None) -> None:
        """Derive the states of these nodes anew, of all with None. What alters nothing is no generation."""

    async def preview(self) -> ChangePreview | None:
        """Where only a preview was asked for: undo everything, and answer what it would have done."""


@dataclass(frozen=True, slots=True)
class PolicyReader:
    """The fleet's policy for those who derive something from it."""

    rows: PolicyRepository

    async def get(self) -> PolicyRead:
        """The facts; the schema's own values before anybody wrote them."""
        return _read(await self.rows.find())


@dataclass(frozen=True, slots=True)
class PolicyService:
    """The fleet's policy as one session sees it."""

    rows: PolicyRepository
    audit: Audit
    publisher: Publisher
    now: Clock

    async def get(self) -> PolicyRead:
        """The facts; the schema's own values before anybody wrote them."""
        return _read(await self.rows.find())

    async def put(self, actor: Principal, wanted: PolicyWrite, version: int) -> PolicyRead:
        """Replace them. Raises FactChanged when `version` is not the present one."""
        row = await self.rows.find(lock=True)
        before = _read(row)
        if before.version != version:
            raise FactChanged.between(before, wanted)
        document = wanted.model_dump(mode="json")
        if row is None:
            row = FleetPolicy(document=document, version=1, updated_at=self.now(), updated_by=actor.name)
            self.rows.add(row)
        else:
            row.document, row.version = document, row.version + 1
            row.updated_at, row.updated_by = self.now(), actor.name
        after = _read(row)
        changed = {name for name in document if document[name] != before.model_dump(mode="json")[name]}
        self.audit.note(
            actor,
            "policy.changed",
            ("policy", "fleet"),
            before=before.model_dump(mode="json", include=changed),
            after=after.model_dump(mode="json", include=changed),
        )
        await self.publisher.publish(actor, "the fleet's policy changed", None)
        return after


def _read(row: FleetPolicy | None) -> PolicyRead:
    if row is None:
        return PolicyRead(version=0)
    return PolicyRead.model_validate(
        {**row.document, "version": row.version, "updated_at": row.updated_at, "updated_by": row.updated_by}
    )
