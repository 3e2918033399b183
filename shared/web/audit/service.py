"""The audit trail: one row for every write, in the transaction of that write."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from shared.kernel.clock import Clock
from shared.kernel.principal import Principal
from shared.web.audit.repository import AuditRepository
from shared.web.audit.rules import decode_cursor, encode_cursor, export_head, export_line
from shared.web.audit.schemas import AuditEventRead, AuditFilter, AuditPage, ExportForm
from shared.web.request_ids import current_request_id

_EXPORTED_AT_ONCE = 500


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
        """Append `action` (past tense, such as `node.created`) on the object (type, id). No secrets."""
        self.events.add(
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

    async def list(self, wanted: AuditFilter, cursor: str | None, limit: int) -> AuditPage:
        """One page, newest first. Raises InvalidInput for a cursor that is not ours."""
        start = decode_cursor(cursor) if cursor else None
        found = await self.events.list_before(wanted, start, limit + 1)
        items = [AuditEventRead.model_validate(event) for event in found[:limit]]
        more = len(found) > limit
        return AuditPage(items=items, next=encode_cursor(items[-1].id) if more else None)


@dataclass(frozen=True, slots=True)
class AuditExport:
    """Writes the trail out, however long it is."""

    #: The trail in a session of its own, one for each page: a slow reader holds none.
    reading: Callable[[], AbstractAsyncContextManager[Audit]]

    async def stream_lines(self, wanted: AuditFilter, form: ExportForm) -> AsyncIterator[str]:
        """Every event that matches, newest first; events of meanwhile are not among them."""
        yield export_head(form)
        cursor: str | None = None
        while True:
            async with self.reading() as audit:
                page = await audit.list(wanted, cursor, _EXPORTED_AT_ONCE)
            yield "".join(export_line(event, form) for event in page.items)
            cursor = page.next
            if cursor is None:
                return
