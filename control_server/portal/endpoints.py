"""JSON twin of the tiers page."""

from __future__ import annotations

from control_server.portal.dependencies import Tiers, TiersReader
from control_server.portal.schemas import TiersRead
from shared.web.routing import Router

router = Router(prefix="/api/v1/tiers", tags=["tiers"])


@router.get("")
async def read_tiers(_reader: TiersReader, tiers: Tiers) -> TiersRead:
    """State, figures, families and breaker of both tiers, as the answering process sees them."""
    return await tiers.read()
