"""The audit trail: one row for every write, in the transaction of that write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from auth_server.audit.models import AuditEvent
from auth_server.audit.repository import AuditRepository
from auth_server.audit.rules import decode_cursor, encode_cursor
from auth_server.audit.schemas import AuditEventRead, AuditFilter, AuditPage
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal
from shared.web.request_ids import current_request_id


@dataclass(frozen=True, slots=True)
class Audit:
    """Writes to the trail on behalf of one actor, and reads it."""

    events: AuditRepository
    now: Clock
    from_address: str = ""

    def note(
        self,
        actor: Principal,
        action: str,
        on: tuple[str, str],
        *,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> None:
        """Append `action` (past tense, such as `account.created`) on the object (type, id). No secrets."""
        self.events.add(
            AuditEvent(
                at=self.now(),
                actor_kind=actor.kind,
                actor_id=actor.id,
                actor_name=actor.name,
                action=action,
                object_type=on[0],
                object_id=on[1],
                from_address=self.from_address,
                request_id=current_request_id(),
                before=before,
                after=after,
            )
        )

    async def list(self, wanted: AuditFilter, cursor: str | None, limit: int) -> AuditPage:
        """One page, newest first. Raises InvalidInput for a cursor that is not ours."""
        start = decode_cursor(cursor) if cursor else None
        found = await self.events.list_before(wanted, start, limit + 1)
        items = [AuditEventRead.model_validate(event) for event in found[:limit]]
        more = len(found) > limit
        return AuditPage(items=items, next=encode_cursor(items[-1].id) if more else None)
