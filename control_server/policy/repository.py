"""SQL of the fleet's policy."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.policy.models import FleetPolicy

_ROW = 1


@dataclass(frozen=True, slots=True)
class PolicyRepository:
    """The one row in one session."""

    session: AsyncSession

    async def find(self, *, lock: bool = False) -> FleetPolicy | None:
        """The row, held until the end of the transaction when `lock`."""
        wanted = select(FleetPolicy).where(FleetPolicy.id == _ROW)
        return (await self.session.scalars(wanted.with_for_update() if lock else wanted)).one_or_none()

    def add(self, row: FleetPolicy) -> None:
        """Store the row for the first time."""
        row.id = _ROW
        self.session.add(row)
